//! Rust state that a JavaScript object stands for: kept while the object lives, dropped when it is collected.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::c_void;
use std::rc::Rc;

use crate::guard::callbacks;

struct Entry {
    value: Rc<dyn Any>,
    // Dropping a weak handle would forget its finalizer.
    _handle: v8::Weak<v8::External>,
}

/// The isolate's resources, by the number in the handle.
#[derive(Default)]
struct Table {
    last: Cell<usize>,
    entries: RefCell<HashMap<usize, Entry>>,
}

/// Keeps `value` for as long as the handle that is returned. Rooms hold handles in private fields; a program never
/// sees one.
pub(super) fn keep<'s, T: 'static>(scope: &mut v8::PinScope<'s, '_>, value: T) -> v8::Local<'s, v8::External> {
    let table = match scope.get_slot::<Rc<Table>>() {
        Some(table) => Rc::clone(table),
        None => {
            let table = Rc::new(Table::default());
            scope.set_slot(Rc::clone(&table));
            table
        }
    };
    let number = table.last.get() + 1;
    table.last.set(number);
    // The pointer is a number that is never followed.
    let handle = v8::External::new(scope, std::ptr::without_provenance_mut::<c_void>(number));
    let entries = Rc::downgrade(&table);
    let weak = callbacks::finalizer(scope, handle, move || {
        if let Some(table) = entries.upgrade() {
            let entry = table.entries.borrow_mut().remove(&number);
            drop(entry);
        }
    });
    table.entries.borrow_mut().insert(number, Entry { value: Rc::new(value), _handle: weak });
    handle
}

/// The value behind a handle.
pub(super) fn get<T: 'static>(scope: &v8::Isolate, handle: v8::Local<'_, v8::Value>) -> Option<Rc<T>> {
    let handle = v8::Local::<v8::External>::try_from(handle).ok()?;
    let table = scope.get_slot::<Rc<Table>>()?;
    let value = Rc::clone(&table.entries.borrow().get(&handle.value().addr())?.value);
    value.downcast().ok()
}
