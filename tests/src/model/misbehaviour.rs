//! The ways in which a real endpoint has been seen to misbehave, each by name.

mod plans;

macro_rules! misbehaviours {
    ($($(#[doc = $doc:literal])+ $name:ident,)+) => {
        /// One way to misbehave.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Misbehaviour { $($(#[doc = $doc])+ $name,)+ }

        impl Misbehaviour {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];
        }
    };
}

misbehaviours! {
    /// 429 without a word on when to come back.
    TooManyRequests,
    /// 429 with `retry-after-ms: 20`.
    TooManyRequestsShortWait,
    /// 429 with a `Retry-After` of a day.
    TooManyRequestsLongWait,
    /// 429 with a `Retry-After` that is a date in the past.
    TooManyRequestsDate,
    /// 429 because the account is empty.
    QuotaExhausted,
    /// 500 with plain text.
    ServerError,
    /// 502 with a web page, as a proxy sends it.
    BadGatewayPage,
    /// 503 without a body.
    Unavailable,
    /// 504 with JSON.
    GatewayTimeout,
    /// 529, Anthropic's word for busy.
    Overloaded,
    /// 401.
    Unauthorized,
    /// 401 with a message that repeats the key.
    EchoedKey,
    /// 402.
    PaymentRequired,
    /// 403.
    Forbidden,
    /// 404 for the model.
    UnknownModel,
    /// 404 for the path.
    UnknownPath,
    /// 301 to elsewhere.
    Redirect,
    /// 400 for a field.
    UnknownField,
    /// 400 because the prompt is too long.
    ContextLength,
    /// 413.
    PayloadTooLarge,
    /// 400 because a filter caught the prompt.
    FilteredPrompt,
    /// 200 with a web page.
    Html,
    /// 200 with nothing.
    EmptyBody,
    /// 200 with prose.
    Prose,
    /// 200 with the first half of a JSON document.
    HalfJson,
    /// 200 with JSON nested deeper than anybody reads.
    DeepJson,
    /// A stream that ends properly in the middle of the reply.
    HalfStream,
    /// A stream whose connection drops in the middle.
    BrokenStream,
    /// A stream that stalls in the middle.
    StalledStream,
    /// No answer at all.
    Silence,
    /// Signs of life for ever, and no reply.
    KeptAliveForever,
    /// An event that is not JSON.
    BrokenEvent,
    /// An error in the middle of a stream.
    ErrorInStream,
    /// No choice, or no output.
    EmptyChoices,
    /// A reply without text.
    EmptyText,
    /// A reply that is nothing but thinking, in a tag.
    OnlyThinking,
    /// Thinking in a field of its own before the text.
    ReasoningField,
    /// A call of a tool that nobody offered.
    ToolCall,
    /// A megabyte of text.
    Megabyte,
    /// Text without end.
    Endless,
    /// Tags that nobody asked for.
    WrongTags,
    /// A refusal in its own field.
    Refusal,
    /// A reply that a filter stopped.
    FilteredReply,
    /// A reply that the token limit cut off.
    CutOff,
    /// Bytes that are not UTF-8.
    InvalidUtf8,
    /// Characters torn apart between two pieces.
    TornUtf8,
    /// NUL and other control characters in the text.
    ControlCharacters,
    /// No usage.
    UsageMissing,
    /// A usage of zero.
    UsageZero,
    /// A usage beyond all measure.
    UsageAbsurd,
    /// A negative usage.
    UsageNegative,
    /// Events that nobody knows, and comments.
    UnknownEvents,
    /// The whole reply in one piece although a stream was asked for.
    PlainInsteadOfStream,
    /// A stream although it is called something else.
    WrongContentType,
    /// A stream without its last line.
    NoDone,
    /// Line ends of two characters.
    CarriageReturns,
    /// Content as a list of parts.
    ContentParts,
}

impl Misbehaviour {
    /// The name as a test prints it.
    pub fn name(self) -> String {
        format!("{self:?}")
    }
}
