//! Many jobs on one graph, beside the figures of GraphM (Zhao et al., SC 2019).

mod arrivals;
mod batch;
mod cores;
mod job_files;
mod mix;
mod order;
mod pageranks;
mod searches;
mod single;
mod sources;
mod stretches;
pub mod subject;
mod throttle;

use super::figures::Group;

/// Every group, in the order in which they are measured and shown.
pub const JOBS: &[Group] = &[
    Group { name: "mix", title: "16 jobs of the mix, R-MAT", measure: mix::rmat },
    Group { name: "mix-uniform", title: "16 jobs of the mix, uniform", measure: mix::uniform },
    Group { name: "mix-cnr-2000", title: "16 jobs of the mix, cnr-2000", measure: mix::cnr },
    Group {
        name: "mix-throttled",
        title: "16 jobs of the mix, R-MAT on a slow disk",
        measure: mix::rmat_throttled,
    },
    Group {
        name: "mix-cnr-2000-throttled",
        title: "16 jobs of the mix, cnr-2000 on a slow disk",
        measure: mix::cnr_throttled,
    },
    Group { name: "pageranks", title: "2 to 16 PageRanks", measure: pageranks::all },
    Group { name: "searches", title: "256 searches", measure: searches::all },
    Group { name: "arrivals", title: "Jobs that arrive at random", measure: arrivals::poisson },
    Group { name: "trace", title: "Jobs that arrive as in a trace", measure: arrivals::trace },
    Group { name: "sources", title: "Searches from close sources", measure: sources::all },
    Group { name: "cores", title: "The mix by the number of threads", measure: cores::all },
    Group { name: "order", title: "Orders of the parts", measure: order::all },
    Group { name: "stretches", title: "The mix by the size of a stretch", measure: stretches::all },
    Group { name: "single-job", title: "A single job, before and now", measure: single::all },
];
