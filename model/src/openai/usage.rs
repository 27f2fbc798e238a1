//! Checks the counts that an endpoint sent, because money is settled by them:
//! missing ones and ones that cannot be true are replaced by our own.

use super::transport::Progress;
use crate::tokens::Counter;
use crate::{Request, Usage};

/// Tokens that a provider may add to a prompt on its own: rules, tools.
const HIDDEN_IN: u64 = 10_000;
/// Tokens that a reasoning model may use beyond the limit that it was given.
const HIDDEN_OUT: u64 = 100_000;
/// A token has about four bytes of text, and over a whole text never this many
/// unless it is nothing but spaces.
const BYTES_OF_A_TOKEN: u64 = 64;

/// Code has fewer bytes in a token than prose, but hardly fewer than this.
const BYTES_AT_LEAST: u64 = 2;

/// The counts to settle by. Ours are only made when they are needed: counting a
/// long conversation takes a while.
pub(super) fn settle(
    sent: Option<Usage>,
    request: &Request,
    text: &str,
    counter: Counter,
) -> Usage {
    match sent.filter(|sent| is_believable(sent, request, text)) {
        Some(sent) => Usage {
            tokens_cached: sent.tokens_cached.min(sent.tokens_in),
            ..sent
        },
        None => Usage {
            tokens_in: counter.count_request(request),
            tokens_out: counter.count(text),
            tokens_cached: 0,
            estimated: true,
        },
    }
}

/// Returns the tokens of a call whose reply broke off: the request, and the text
/// that had come. A reply that never began may have been written in full behind
/// our back.
pub(super) fn of_broken(request: &Request, progress: &Progress, counter: Counter) -> Usage {
    let most = u64::from(request.max_output_tokens);
    let written = (progress.text as u64).div_ceil(BYTES_AT_LEAST);
    Usage {
        tokens_in: counter.count_request(request),
        tokens_out: if progress.begun {
            written.min(most)
        } else {
            most
        },
        tokens_cached: 0,
        estimated: true,
    }
}

fn is_believable(sent: &Usage, request: &Request, text: &str) -> bool {
    let bytes = |text: &str| text.len() as u64;
    let messages = request.messages.iter();
    let prompt: u64 = messages.map(|message| bytes(&message.text)).sum();
    // No token is shorter than a byte.
    let most_out = u64::from(request.max_output_tokens).max(bytes(text)) + HIDDEN_OUT;
    sent.tokens_in <= prompt + HIDDEN_IN
        && sent.tokens_out <= most_out
        && sent.tokens_in >= prompt.div_ceil(BYTES_OF_A_TOKEN)
        && sent.tokens_out >= bytes(text).div_ceil(BYTES_OF_A_TOKEN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;

    #[test]
    fn counts_that_cannot_be_true_are_replaced() {
        let request = Request {
            messages: vec![Message::user("why does it crash? ".repeat(200))],
            max_output_tokens: 1000,
        };
        let text = "because of this ".repeat(100);
        let own_in = Counter::O200k.count_request(&request);
        let own_out = Counter::O200k.count(&text);
        let cases = [
            ("missing", None, true),
            ("plausible", Some((own_in + 20, own_out, 100)), false),
            ("a hidden prompt", Some((own_in + 5000, own_out, 0)), false),
            ("long thinking", Some((own_in, 9000, 0)), false),
            ("nothing at all", Some((0, 0, 0)), true),
            ("no reply", Some((own_in, 0, 0)), true),
            ("absurd", Some((u64::MAX, own_out, 0)), true),
            ("absurd reply", Some((own_in, u64::MAX, 0)), true),
            ("far too few", Some((own_in / 20, own_out, 0)), true),
        ];
        for (name, sent, estimated) in cases {
            let sent = sent.map(|(tokens_in, tokens_out, tokens_cached)| Usage {
                tokens_in,
                tokens_out,
                tokens_cached,
                estimated: false,
            });
            let usage = settle(sent, &request, &text, Counter::O200k);
            assert_eq!(usage.estimated, estimated, "{name}");
            assert!(usage.tokens_in >= own_in, "{name}");
        }
        let more_cached_than_sent = Some(Usage {
            tokens_in: own_in,
            tokens_out: own_out,
            tokens_cached: u64::MAX,
            estimated: false,
        });
        let usage = settle(more_cached_than_sent, &request, &text, Counter::O200k);
        assert_eq!(usage.tokens_cached, own_in);
    }
}
