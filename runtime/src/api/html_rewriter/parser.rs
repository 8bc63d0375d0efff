//! The HTML parser on a stack of its own.
//!
//! `lol_html` calls its handlers while it parses and wants them answered before it goes on; a Worker's handlers are
//! JavaScript and may take turns to answer. So the parser runs as a coroutine: a handler suspends it, what called
//! [`Parser::resume`] runs the JavaScript on the isolate's ordinary stack, for as many turns as that takes, and the next
//! resume lets the handler return. V8 never runs on the parser's stack. All of it is the isolate's own thread, so its CPU
//! time is the invocation's.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::ptr::NonNull;
use std::rc::Rc;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use lol_html::html_content::{
    Comment, ContentType, Doctype, DocumentEnd, Element, EndTag, StreamingHandler, StreamingHandlerSink, TextChunk,
};
use lol_html::{
    AsciiCompatibleEncoding, DocumentContentHandlers, ElementContentHandlers, HandlerResult, HtmlRewriter,
    MemorySettings, Selector, Settings,
};

use super::super::Host;
use super::super::charge::Charge;
use crate::guard::{self, Callback};

/// The parser's stack, in bytes. Pages of it that are never touched cost nothing but addresses.
const STACK_BYTES: usize = 256 << 10;

/// What the parser may hold beside its stack, in bytes: unfinished tags, and the elements it is in.
const PARSER_BYTES_MAX: usize = 3 << 20;

/// The most the parser holds for each byte of its input (an open element for each `<a>`), in bytes.
const PARSER_BYTES_PER_INPUT_BYTE: usize = 32;

/// The JavaScript to call for what one selector, or the whole document, matches: numbers that [`Step::Handler`] gives back.
pub(super) enum Handlers {
    Element { selector: Selector, element: Option<u32>, comments: Option<u32>, text: Option<u32> },
    Document { doctype: Option<u32>, comments: Option<u32>, text: Option<u32>, end: Option<u32> },
}

/// What the parser is told when it is resumed.
pub(super) enum Command {
    /// After [`Step::Input`]: more of the document.
    Write(Vec<u8>),
    /// After [`Step::Input`]: there is no more.
    End,
    /// After [`Step::Handler`]: the handler is done with its token.
    Proceed,
    /// After [`Step::Content`]: more of the stream.
    Content(Vec<u8>),
    /// After [`Step::Content`]: the stream is at its end.
    ContentEnd,
}

/// Why the parser stopped running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It has used its input.
    Input,
    /// This handler is to be called for the token, see [`Parser::with_token`].
    Handler(u32),
    /// The next bytes of this stream are to take the place of something.
    Content(u32),
    /// The document is at its end.
    End,
}

/// What a handler may look at and change while the parser is suspended in it.
pub(super) enum Token<'t> {
    Element(&'t mut Element<'static, 'static>),
    EndTag(&'t mut EndTag<'static>),
    Comment(&'t mut Comment<'static>),
    Text(&'t mut TextChunk<'static>),
    Doctype(&'t mut Doctype<'static>),
    DocumentEnd(&'t mut DocumentEnd<'static>),
}

/// Where the token is that the parser is suspended with. Its lifetimes are the parser's affair.
#[derive(Clone, Copy)]
enum Place {
    Element(NonNull<Element<'static, 'static>>),
    EndTag(NonNull<EndTag<'static>>),
    Comment(NonNull<Comment<'static>>),
    Text(NonNull<TextChunk<'static>>),
    Doctype(NonNull<Doctype<'static>>),
    DocumentEnd(NonNull<DocumentEnd<'static>>),
}

/// What both stacks use, one at a time.
struct Shared {
    token: Cell<Option<Place>>,
    output: RefCell<Vec<u8>>,
    /// The parser's way to suspend itself: on its own stack, and there for as long as the parser is.
    yielder: Cell<Option<NonNull<Handling>>>,
}

impl Shared {
    /// Suspends the parser, whose stack the caller is on.
    fn suspend(&self, step: Step) -> Result<Command, Stopped> {
        let yielder = self.yielder.get().ok_or(Stopped)?;
        // SAFETY: `parse` set the pointer to what it was given by reference, and clears it before it returns; handlers
        // run only inside of it. Nothing else calls this.
        Ok(unsafe { yielder.as_ref() }.suspend(step))
    }

    /// Lets JavaScript handle a token.
    fn handle(&self, handler: u32, token: Place) -> HandlerResult {
        self.token.set(Some(token));
        let command = self.suspend(Step::Handler(handler));
        self.token.set(None);
        match command? {
            Command::Proceed => Ok(()),
            _ => Err(Stopped.into()),
        }
    }
}

/// The parser was resumed with something else than what it waited for. A defect of the caller.
#[derive(Debug, thiserror::Error)]
#[error("The parser was stopped.")]
struct Stopped;

type Handling = Yielder<Command, Step>;
type Parsing = Coroutine<Command, Step, Result<(), String>, DefaultStack>;

/// One document being rewritten.
pub(super) struct Parser {
    /// `None` once the document is at its end or was given up.
    parsing: RefCell<Option<Parsing>>,
    shared: Rc<Shared>,
    charges: RefCell<Charges>,
    host: Rc<dyn Host>,
}

struct Charges {
    /// The stack, and what the parser may hold.
    parser: Charge,
    /// The chunk that is being parsed.
    input: Charge,
    output: Charge,
    /// What the current token was given: it leaves with the token.
    token: Charge,
    input_bytes: usize,
}

impl Parser {
    /// A parser that waits for its first input. `None` when there is no memory for its stack.
    pub(super) fn new(
        handlers: Vec<Handlers>,
        encoding: AsciiCompatibleEncoding,
        esi_tags: bool,
        host: Rc<dyn Host>,
    ) -> Option<Self> {
        let stack = DefaultStack::new(STACK_BYTES).ok()?;
        let shared = Rc::new(Shared { token: Cell::new(None), output: RefCell::default(), yielder: Cell::new(None) });
        let inner = Rc::clone(&shared);
        let parsing = Coroutine::with_stack(stack, move |yielder: &Handling, first| {
            let result = parse(yielder, first, handlers, encoding, esi_tags, &inner);
            inner.yielder.set(None);
            result
        });
        let charge = |bytes| Charge::new(Rc::clone(&host), bytes);
        let charges = Charges {
            parser: charge(STACK_BYTES),
            input: charge(0),
            output: charge(0),
            token: charge(0),
            input_bytes: 0,
        };
        Some(Self { parsing: RefCell::new(Some(parsing)), shared, charges: RefCell::new(charges), host })
    }

    /// Runs the parser until it next wants something. After [`Step::End`] and after an error it is gone: further calls
    /// answer [`Step::End`].
    ///
    /// # Errors
    /// Why the document cannot be rewritten, in the parser's words.
    pub(super) fn resume(&self, command: Command) -> Result<Step, String> {
        {
            let charges = &mut *self.charges.borrow_mut();
            match &command {
                Command::Write(bytes) => {
                    charges.input_bytes = charges.input_bytes.saturating_add(bytes.len());
                    let held = charges.input_bytes.saturating_mul(PARSER_BYTES_PER_INPUT_BYTE).min(PARSER_BYTES_MAX);
                    charges.parser.set(STACK_BYTES + held);
                    charges.input.set(bytes.len());
                }
                Command::Proceed => charges.token.set(0),
                Command::End | Command::Content(_) | Command::ContentEnd => {}
            }
        }
        // Taken out, so that nothing can resume a parser that is running.
        let Some(mut parsing) = self.parsing.borrow_mut().take() else { return Ok(Step::End) };
        // A panic of the parser's is one of ours, and leaves this parser in order.
        let resumed = guard::contain(Callback::Function, || parsing.resume(command));
        self.charges.borrow_mut().output.set(self.shared.output.borrow().capacity());
        match resumed {
            Some(CoroutineResult::Yield(step)) => {
                if step == Step::Input {
                    self.charges.borrow_mut().input.set(0);
                }
                *self.parsing.borrow_mut() = Some(parsing);
                Ok(step)
            }
            Some(CoroutineResult::Return(result)) => {
                self.close();
                result.map(|()| Step::End)
            }
            None => {
                self.close();
                Err("The parser failed.".to_owned())
            }
        }
    }

    /// Gives the document up. What the parser holds is freed; output that was not taken remains.
    pub(super) fn close(&self) {
        self.shared.token.set(None);
        let parsing = self.parsing.borrow_mut().take();
        // Unwinds the parser's stack.
        drop(parsing);
        self.shared.yielder.set(None);
        let charges = &mut *self.charges.borrow_mut();
        charges.parser.set(0);
        charges.input.set(0);
        charges.token.set(0);
    }

    /// The output so far, when there are at least `bytes_min` (and any at all).
    pub(super) fn take_output(&self, bytes_min: usize) -> Option<Vec<u8>> {
        let mut output = self.shared.output.borrow_mut();
        if output.is_empty() || output.len() < bytes_min {
            return None;
        }
        self.charges.borrow_mut().output.set(0);
        Some(std::mem::take(&mut *output))
    }

    /// Lets `act` have the token of the handler that the parser is suspended in; `None` when it is in none. The parser
    /// does not run meanwhile, and has no token for anybody else.
    pub(super) fn with_token<R>(&self, act: impl FnOnce(Token<'_>) -> R) -> Option<R> {
        let parsing = self.parsing.borrow_mut();
        let place = self.shared.token.take()?;
        // The handler that was given the token by `&mut` is suspended, and stays so until `resume` or `close` takes the
        // coroutine, which `parsing` keeps from them. `Token`'s lifetime ends with `act`; nothing that a token gives out
        // lives for as long as the lifetimes erased here.
        // SAFETY: see above; the token was taken out of its cell, so this is the only reference made from the pointer.
        let result = unsafe {
            match place {
                Place::Element(mut token) => act(Token::Element(token.as_mut())),
                Place::EndTag(mut token) => act(Token::EndTag(token.as_mut())),
                Place::Comment(mut token) => act(Token::Comment(token.as_mut())),
                Place::Text(mut token) => act(Token::Text(token.as_mut())),
                Place::Doctype(mut token) => act(Token::Doctype(token.as_mut())),
                Place::DocumentEnd(mut token) => act(Token::DocumentEnd(token.as_mut())),
            }
        };
        self.shared.token.set(Some(place));
        drop(parsing);
        Some(result)
    }

    /// Counts what was put on the current token.
    pub(super) fn charge_token(&self, bytes: usize) {
        self.charges.borrow_mut().token.add(bytes);
    }

    /// Content for the current token.
    pub(super) fn insertion(&self, what: Inserted, content_type: ContentType) -> Box<dyn StreamingHandler + Send> {
        let bytes = match &what {
            Inserted::Text(text) => text.len(),
            Inserted::Stream(_) => 0,
        };
        let charge = Charge::new(Rc::clone(&self.host), bytes);
        Box::new(Insertion { what, content_type, shared: Rc::clone(&self.shared), _charge: charge })
    }

    /// A handler for the end tag of the current element.
    pub(super) fn end_tag_handler(&self, handler: u32) -> Box<dyn FnOnce(&mut EndTag<'_>) -> HandlerResult> {
        let shared = Rc::clone(&self.shared);
        Box::new(move |tag| shared.handle(handler, Place::EndTag(NonNull::from(tag).cast())))
    }
}

/// What is put somewhere in the document.
pub(super) enum Inserted {
    Text(String),
    /// The bytes of a stream that JavaScript reads, by number.
    Stream(u32),
}

/// Content that waits for its place in the output.
struct Insertion {
    what: Inserted,
    content_type: ContentType,
    shared: Rc<Shared>,
    _charge: Charge,
}

// SAFETY: the parser wants handlers that may move to another thread with it. This parser never does: it is in a coroutine,
// which cannot be sent.
unsafe impl Send for Insertion {}

impl StreamingHandler for Insertion {
    fn write_all(self: Box<Self>, sink: &mut StreamingHandlerSink<'_>) -> HandlerResult {
        match self.what {
            Inserted::Text(text) => sink.write_str(&text, self.content_type),
            Inserted::Stream(stream) => loop {
                match self.shared.suspend(Step::Content(stream))? {
                    Command::Content(bytes) => sink.write_utf8_chunk(&bytes, self.content_type)?,
                    Command::ContentEnd => break,
                    _ => return Err(Stopped.into()),
                }
            },
        }
        Ok(())
    }
}

/// The parser's whole run, on its own stack.
fn parse(
    yielder: &Handling,
    first: Command,
    handlers: Vec<Handlers>,
    encoding: AsciiCompatibleEncoding,
    esi_tags: bool,
    shared: &Rc<Shared>,
) -> Result<(), String> {
    shared.yielder.set(Some(NonNull::from(yielder)));
    let limits = MemorySettings::new().with_max_allowed_memory_usage(PARSER_BYTES_MAX);
    let mut settings =
        Settings::new().with_encoding(encoding).with_memory_settings(limits).with_enable_esi_tags(esi_tags);
    for handlers in handlers {
        settings = register(settings, handlers, shared);
    }
    let output = Rc::clone(shared);
    let mut rewriter =
        HtmlRewriter::new(settings, move |chunk: &[u8]| output.output.borrow_mut().extend_from_slice(chunk));
    let mut command = first;
    while let Command::Write(bytes) = command {
        rewriter.write(&bytes).map_err(|error| error.to_string())?;
        drop(bytes);
        command = yielder.suspend(Step::Input);
    }
    rewriter.end().map_err(|error| error.to_string())
}

fn register<'h>(settings: Settings<'h, 'h>, handlers: Handlers, shared: &Rc<Shared>) -> Settings<'h, 'h> {
    // Erasing a token's lifetimes is sound because `Parser::with_token` uses it only while its handler is suspended.
    macro_rules! calls {
        ($token:ident, $handler:expr) => {
            $handler.map(|handler| {
                let shared = Rc::clone(shared);
                Box::new(move |token: &mut $token<'_>| {
                    shared.handle(handler, Place::$token(NonNull::from(token).cast()))
                }) as _
            })
        };
    }
    match handlers {
        Handlers::Element { selector, element, comments, text } => {
            let element = element.map(|handler| {
                let shared = Rc::clone(shared);
                Box::new(move |token: &mut Element<'_, '_>| {
                    shared.handle(handler, Place::Element(NonNull::from(token).cast()))
                }) as _
            });
            let comments = calls!(Comment, comments);
            let text = text.map(|handler| text_handler(handler, shared));
            settings.append_element_content_handler((
                Cow::Owned(selector),
                ElementContentHandlers { element, comments, text },
            ))
        }
        Handlers::Document { doctype, comments, text, end } => {
            let doctype = calls!(Doctype, doctype);
            let comments = calls!(Comment, comments);
            let text = text.map(|handler| text_handler(handler, shared));
            let end = calls!(DocumentEnd, end);
            settings.append_document_content_handler(DocumentContentHandlers { doctype, comments, text, end })
        }
    }
}

fn text_handler<'h>(handler: u32, shared: &Rc<Shared>) -> lol_html::TextHandler<'h> {
    let shared = Rc::clone(shared);
    Box::new(move |token| shared.handle(handler, Place::Text(NonNull::from(token).cast())))
}
