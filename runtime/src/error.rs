//! What can go wrong here, and whose fault it is.

/// Whose fault an error is: decides who is told, and whether retrying can help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The code that was loaded, or a limit it met.
    Program,
    /// Whoever loaded it: bad arguments, a capability that failed.
    Host,
    /// loaderd itself or the machine under it.
    Platform,
}
