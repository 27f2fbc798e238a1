//! Words of states, as databases, journals and callers write them.

/// Gives every state of a type its word: `as_str` writes it, `read` finds its state.
#[macro_export]
macro_rules! words {
    ($name:ident: $($state:ident $word:literal),+) => {
        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$state),+];

            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$state => $word),+
                }
            }

            /// The state of a word.
            pub fn read(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.as_str() == word)
            }
        }
    };
}
