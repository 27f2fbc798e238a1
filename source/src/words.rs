//! Words of states, as databases, journals, reports and callers write them.

/// Gives every state of a type its word: `as_str` and `Display` write it, `read` finds its state,
/// and `ALL` has the states in the order that is given here.
#[macro_export]
macro_rules! words {
    ($name:ident: $($state:ident $word:literal),+) => {
        impl $name {
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$state),+];

            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$state => $word),+
                }
            }

            /// The state of a word.
            pub fn read(word: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.as_str() == word)
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
