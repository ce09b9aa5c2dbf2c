//! Driving a call of the database to its end from any thread.
//!
//! Comes in: the runtime whose thread does the reading and writing, and a call. Goes out: the call's answer. The caller's thread waits, asleep,
//! also if it is one of somebody else's asynchronous runtime: there tokio's own `block_on` would panic. Never here: a thread of its own.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use tokio::runtime::Runtime;

/// Wakes the thread that waits.
struct Sleeper(Thread);

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Drives a call to its end. Connections and timers belong to `runtime`, whichever other one this thread works for.
pub(crate) fn drive<T>(runtime: &Runtime, call: impl Future<Output = T>) -> T {
    let _inside = runtime.enter();
    // On a thread of another runtime, tokio would ask the call after a while to let others have a turn, and go on asking, since nobody else can.
    let mut call = pin!(tokio::task::unconstrained(call));
    let waker = Waker::from(Arc::new(Sleeper(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match call.as_mut().poll(&mut context) {
            Poll::Ready(answer) => return answer,
            Poll::Pending => std::thread::park(),
        }
    }
}
