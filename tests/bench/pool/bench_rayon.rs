//! rayon: scopes and joins in a ThreadPool. Called from bench_rayon.c; the functions
//! there say what each of these does. The calling thread is never a worker.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rayon::{Scope, ThreadPool, ThreadPoolBuilder};

extern "C" {
    fn bench_slot_claim() -> *mut u64;
}

thread_local! {
    static SLOT: Cell<*mut u64> = const { Cell::new(null_mut()) };
}

/// bench_count() of bench.h.
#[inline]
fn count() {
    SLOT.with(|cell| {
        let mut slot = cell.get();
        if slot.is_null() {
            // SAFETY: no precondition; the result is this thread's for ever.
            slot = unsafe { bench_slot_claim() };
            cell.set(slot);
        }
        // SAFETY: a slot is never freed, and AtomicU64 has the layout of u64.
        let slot = unsafe { &*(slot as *const AtomicU64) };
        slot.store(slot.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    })
}

/// struct layered_node of layered.h.
#[repr(C)]
struct Node {
    state: AtomicU64,
    runs: AtomicU32,
    first: u32,
}

/// struct layered of layered.h.
#[repr(C)]
pub struct Layered {
    nodes: *const Node,
    succ: *const u32,
    sum: u64,
    count: u32,
    width: u32,
}

const CHAIN: u32 = 1; // LAYERED_CHAIN

/// The graph as slices, which the tasks share.
struct Graph<'g> {
    nodes: &'g [Node],
    succ: &'g [u32],
    chain: bool,
}

impl Graph<'_> {
    /// layered_visit() of layered.h.
    fn visit<'s>(&'s self, scope: &Scope<'s>, start: u32) {
        let mut current = Some(start);
        while let Some(n) = current.take() {
            let node = &self.nodes[n as usize];
            let end = self.nodes[n as usize + 1].first;
            node.runs
                .store(node.runs.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            let add = (node.state.load(Ordering::Relaxed) >> 32 << 32).wrapping_sub(1);
            for &s in &self.succ[node.first as usize..end as usize] {
                let before = self.nodes[s as usize].state.fetch_add(add, Ordering::AcqRel);
                if before as u32 != 1 {
                    continue;
                }
                if self.chain && current.is_none() {
                    current = Some(s);
                } else {
                    scope.spawn(move |scope| self.visit(scope, s));
                }
            }
        }
    }
}

/// SAFETY: `pool` comes from bench_rayon_open and has not been closed.
unsafe fn borrow<'p>(pool: *mut c_void) -> &'p ThreadPool {
    &*(pool as *const ThreadPool)
}

#[no_mangle]
pub extern "C" fn bench_rayon_open(workers: u32, _entry: u32) -> *mut c_void {
    let pool = ThreadPoolBuilder::new().num_threads(workers as usize).build();
    Box::into_raw(Box::new(pool.expect("start the threads"))) as *mut c_void
}

/// # Safety
/// `pool` comes from bench_rayon_open; this is its last use.
#[no_mangle]
pub unsafe extern "C" fn bench_rayon_close(pool: *mut c_void) {
    drop(Box::from_raw(pool as *mut ThreadPool));
}

/// # Safety
/// `pool` comes from bench_rayon_open.
#[no_mangle]
pub unsafe extern "C" fn bench_rayon_spawn(pool: *mut c_void, n: u64) {
    borrow(pool).scope(|scope| {
        for _ in 0..n {
            scope.spawn(|_| count());
        }
    });
}

/// # Safety
/// `pool` comes from bench_rayon_open, `graph` from layered_init().
#[no_mangle]
pub unsafe extern "C" fn bench_rayon_dag(pool: *mut c_void, graph: *const Layered, mode: u32) {
    let g = &*graph;
    let nodes = std::slice::from_raw_parts(g.nodes, g.count as usize + 1);
    let edges = nodes[g.count as usize].first as usize;
    let graph = Graph {
        nodes,
        succ: std::slice::from_raw_parts(g.succ, edges),
        chain: mode == CHAIN,
    };
    let (graph, width) = (&graph, g.width);
    borrow(pool).scope(|scope| {
        for n in 0..width {
            scope.spawn(move |scope| graph.visit(scope, n));
        }
    });
}

fn fib(n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = rayon::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

/// # Safety
/// `pool` comes from bench_rayon_open.
#[no_mangle]
pub unsafe extern "C" fn bench_rayon_fib(pool: *mut c_void, n: u32) -> u64 {
    borrow(pool).install(|| fib(n))
}

/// An argument that C vouches for: another thread may use it.
struct Arg(*mut c_void);
// SAFETY: bench_wake_run() keeps it alive and does not touch it until the job has run.
unsafe impl Send for Arg {}

/// # Safety
/// `pool` comes from bench_rayon_open, `job` and `arg` from bench_wake_run().
#[no_mangle]
pub unsafe extern "C" fn bench_rayon_submit(
    pool: *mut c_void,
    job: extern "C" fn(*mut c_void),
    arg: *mut c_void,
) {
    let arg = Arg(arg);
    borrow(pool).spawn(move || {
        let Arg(arg) = { arg };
        job(arg)
    });
}
