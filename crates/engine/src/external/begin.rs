//! What happens before the first iteration: making the arrays, and the states of all vertices.

use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex};

use tegula_machine::disk::{BlockStore, Blocks, Pool, Reader, WriteBehind, check_room};
use tegula_machine::memory::huge;
use tegula_machine::threads::{lock, unlocked};
use tegula_store::graph::Graph;
use tegula_store::tiles::WINDOW_LOG2;
use tegula_store::{Result, VertexId};

use super::activity::NextActivity;
use super::background::BackgroundExchange;
use super::dispatch::Dispatch;
use super::group::ColumnGroup;
use super::{ExternalStep, Position};
use crate::checkpoint::Resumed;
use crate::job::context::JobContext;
use crate::memory::{ArraysOnDisk, ArraysPlan};
use crate::options::RunOptions;
use crate::parts::Parts;
use crate::program::{Activity, Message, Program, Reduction};
use crate::ranks::Ranks;
use crate::spread::Spread;
use crate::start::Start;
use crate::states::cut::{Cut, shared};
use crate::states::folder::spill_folder;
use crate::states::{BlockStates, States, StatesOnDisk};
use crate::superstep::exchange::Exchange;
use crate::superstep::execution::Execution;
use crate::superstep::init::{NewUnit, units_from};

impl<'g, P: Program> ExternalStep<'g, P> {
    /// Makes the arrays on disk and initialises the states. On ranks, only the vertices of this
    /// rank have states.
    ///
    /// # Errors
    /// Failure to create the files, for example on a full disk; failed reads of the degrees;
    /// cancellation; a panic of the program; the failure of another rank.
    pub fn new(
        graph: &'g Graph,
        parts: &Arc<Parts>,
        (start, background): (Start<P>, Option<Arc<BackgroundExchange<'g, Message<P>>>>),
        plan: ArraysPlan,
        options: &RunOptions<'_>,
        context: &JobContext<'_>,
    ) -> Result<ExternalStep<'g, P>> {
        let (Start { program, known, is_own_enough }, threads) = (start, context.threads());
        let ranks = background.as_ref().map(|background| Arc::clone(background.ranks()));
        let arrays = ArraysOnDisk::of::<P>(graph, parts, threads, options.tuning.messages);
        let cut = arrays.cut();
        let reader = &graph.reader().with_pool(Pool::new(arrays.read_size(plan.ahead)));
        let writer = WriteBehind::start(reader, arrays.write_size(), graph.caching());
        arrays.check_room(graph, &plan, options.spill_directory)?;
        let folder = &spill_folder(graph, options.spill_directory)?;
        let own = arrays.own_blocks();
        let spread = &Spread::over(cut.count());
        let own_spread = &Spread::over(own.len());
        let is_held = |block: usize| {
            let is_own = own.contains(&block);
            is_own && own_spread.is_among_first(plan.states_held, block - own.start)
        };
        // A store that holds nothing in memory may have more blocks than are spread.
        let create = |blocks, held| {
            let is_held = |block| spread.is_among_first(held, block);
            BlockStore::create(folder, blocks, reader, &writer, &is_held)
        };
        let (blocks, disk) = (arrays.state_blocks(), (reader, &writer));
        let kept = Kept::of(options, graph, blocks, disk, &is_held, ranks.as_deref())?;
        let states = match kept.states {
            Some(states) => states,
            None => BlockStore::create(folder, blocks, reader, &writer, &is_held)?,
        };
        let keep = || create(arrays.message_blocks(), plan.messages_held);
        let kept_messages = arrays.keeps_messages(&plan).then(keep).transpose()?;
        let sent = plan.sends.then(|| create(arrays.sent_blocks(&plan), 0)).transpose()?;
        let dispatch = sent.map(|store| Dispatch::new(graph, &arrays, &plan, store));
        let mut next_activity = NextActivity::new(&cut);
        // All segments but the last have the same size.
        let segment = graph.grid().source_count(0, graph.vertex_count()) as usize;
        let own = ranks.as_ref().map_or(0..cut.vertex_count(), |ranks| ranks.own_vertices());
        let exchange = Exchange::of_segment(segment, P::Reduction::IDENTITY, ranks);
        let next_exchange = plan.exchanges_ahead.then(|| exchange.another());
        let mut step = ExternalStep {
            graph,
            parts: Arc::clone(parts),
            execution: Execution::new(program, cut.vertex_count(), is_own_enough),
            instructions: options.tuning.instructions,
            cut,
            arrays,
            plan,
            writer,
            states: StatesOnDisk::new(states, cut),
            kept_messages,
            dispatch,
            degrees: if P::NEEDS_DEGREE { Some(graph.degree_reader()?) } else { None },
            activity: next_activity.take(),
            next_activity,
            own,
            exchange,
            background,
            next_exchange,
            group: ColumnGroup::new(graph, parts),
            sums: graph.batches().iter().map(|_| None).collect(),
            position: Position::default(),
        };
        step.begin(kept.resumed, known, context)?;
        Ok(step)
    }

    /// Makes the states before the first iteration of this run.
    fn begin(
        &mut self,
        resumed: Option<(Option<BlockStore>, Resumed<P>)>,
        known: Option<States<P::State>>,
        context: &JobContext<'_>,
    ) -> Result<()> {
        match resumed {
            Some((elsewhere, resumed)) => self.restore(elsewhere, resumed),
            None => self.init(known.as_ref(), context),
        }
    }

    /// Restores the program as it was before an iteration, with its states if they lie elsewhere.
    fn restore(
        &mut self,
        elsewhere: Option<BlockStore>,
        Resumed { iteration, aggregate }: Resumed<P>,
    ) -> Result<()> {
        self.execution.resume(iteration, aggregate);
        let elsewhere = elsewhere.map(|store| StatesOnDisk::new(store, self.cut));
        let mut room = BlockStates::<P::State>::new(self.cut.size_max());
        let blocks = self.cut.blocks(&self.own);
        for block in blocks.clone() {
            let kept = elsewhere.as_ref().unwrap_or(&self.states);
            let vertices = self.cut.vertices(block);
            let (states, active) = room.of(vertices.len());
            if block + 1 < blocks.end {
                kept.read_ahead(block + 1);
            }
            kept.read_with(block, states, active)?;
            for (vertex, state) in vertices.clone().zip(&*states) {
                if self.own.contains(&vertex) {
                    self.execution.restore(vertex, state);
                }
            }
            self.next_activity.note(block, vertices.start, active);
            if elsewhere.is_some() {
                self.states.write(block, states, active)?;
            }
        }
        self.activity = self.next_activity.take();
        self.execution.rejoin(&self.exchange, &mut self.activity.summary)
    }

    /// Initialises the states. Sums are made by unit and merged in the order of the units.
    fn init(&mut self, known: Option<&States<P::State>>, context: &JobContext<'_>) -> Result<()> {
        let stretches = Cut::stretches(&self.own);
        let units: Vec<Mutex<Vec<NewUnit<P>>>> =
            stretches.iter().map(|_| Mutex::default()).collect();
        let program = &self.execution.program;
        context.for_each(stretches.len(), &|index| {
            let stretch = &stretches[index];
            let degrees = self.degrees_of(stretch)?;
            let mut done: Vec<NewUnit<P>> = Vec::new();
            let starts = units_from(self.graph, stretch.start).map(|unit| unit.start);
            let mut starts = starts.peekable();
            for block in self.cut.blocks(stretch) {
                context.cancel().check()?;
                let vertices = self.cut.vertices(block);
                let mut states = match known {
                    Some(known) => known.of_block(block, &self.cut)?,
                    None => huge::zeroes(vertices.len()),
                };
                let mut active = vec![0u64; vertices.len().div_ceil(64)];
                // Other ranks have the rest of a block at either end.
                for vertex in shared(&vertices, stretch) {
                    let local = vertex - vertices.start;
                    let place = &mut states[local];
                    if starts.next_if_eq(&vertex).is_some() {
                        done.push(NewUnit::at(vertex));
                    }
                    let Some(unit) = done.last_mut() else { continue };
                    let degree = degrees.get(vertex - stretch.start).copied();
                    let (state, activity) = program.init_from(
                        *place,
                        VertexId(vertex as u64),
                        degree.unwrap_or(0),
                        &mut unit.aggregate,
                    );
                    unit.open += u32::from(!program.is_settled(&state));
                    active[local / 64] |= u64::from(activity == Activity::Active) << (local % 64);
                    *place = state;
                }
                self.next_activity.note(block, vertices.start, &active);
                self.states.write(block, &states, &active)?;
            }
            *lock(&units[index]) = done;
            Ok(())
        })?;
        let units: Vec<NewUnit<P>> = units.into_iter().flat_map(unlocked).collect();
        for unit in &units {
            self.execution.open_targets[unit.first >> WINDOW_LOG2] += unit.open;
        }
        self.agree(units.into_iter().map(|unit| unit.aggregate))
    }

    /// Returns the degrees of a stretch of vertices; empty if the program does not need them.
    pub(super) fn degrees_of(&self, stretch: &Range<usize>) -> Result<Vec<u32>> {
        match &self.degrees {
            Some(degrees) => degrees.read(stretch.clone()),
            None => Ok(Vec::new()),
        }
    }
}

/// What the checkpoints of a run provide at its start.
struct Kept<P: Program> {
    /// The store of its states, if the run keeps checkpoints.
    states: Option<BlockStore>,
    /// The state to resume from, if any, with its blocks if they lie elsewhere.
    resumed: Option<(Option<BlockStore>, Resumed<P>)>,
}

impl<P: Program> Kept<P> {
    fn of(
        options: &RunOptions<'_>,
        graph: &Graph,
        blocks: Blocks,
        disk: (&Reader, &WriteBehind),
        is_held: &dyn Fn(usize) -> bool,
        ranks: Option<&Ranks<'_>>,
    ) -> Result<Kept<P>> {
        let Some(checkpoints) = &options.checkpoints else {
            return Ok(Kept { states: None, resumed: None });
        };
        let create = || checkpoints.create(blocks, disk, is_held);
        Ok(match checkpoints.resume(graph, blocks, disk, is_held, ranks)? {
            Some((store, resumed)) if checkpoints.resumes_in_place() => {
                Kept { states: Some(store), resumed: Some((None, resumed)) }
            }
            Some((store, resumed)) => {
                Kept { states: create()?, resumed: Some((Some(store), resumed)) }
            }
            None => Kept { states: create()?, resumed: None },
        })
    }
}

impl ArraysOnDisk {
    /// Refuses a plan whose files have no room in the folder of a run.
    ///
    /// # Errors
    /// Failure to open the folder; [`Error::Io`](tegula_machine::Error::Io) of kind
    /// [`StorageFull`](std::io::ErrorKind::StorageFull), which says how much is needed.
    pub fn check_room(
        &self,
        graph: &Graph,
        plan: &ArraysPlan,
        chosen: Option<&Path>,
    ) -> Result<()> {
        Ok(check_room(&spill_folder(graph, chosen)?, self.file_size(plan))?)
    }
}

const _: () =
    assert!(crate::states::cut::STRETCH_LOG2 >= WINDOW_LOG2, "windows begin within stretches");
