//! Graphs of 10^6 edges beside igraph and NetworKit: the time of each algorithm, and how good
//! communities are. Then what needs no library: equal weights, and the choice of executors.

mod auto;
mod calls;
mod communities;
mod equal_weights;
mod library;
mod subject;

use super::figures::Group;

/// Every group, in the order in which they are measured and shown.
pub const LIBRARIES: &[Group] = &[
    Group {
        name: "peers-com-dblp",
        title: "com-dblp, beside libraries",
        measure: |lab| calls::all(lab, "com-dblp.ungraph"),
    },
    Group {
        name: "peers-slashdot",
        title: "soc-sign-Slashdot090221, beside libraries",
        measure: |lab| calls::all(lab, "soc-sign-Slashdot090221"),
    },
    Group {
        name: "peers-cnr-2000",
        title: "cnr-2000, beside libraries",
        measure: |lab| calls::all(lab, "cnr-2000"),
    },
    Group {
        name: "peers-roads",
        title: "USA-road-FLA, beside libraries",
        measure: |lab| calls::all(lab, "USA-road-FLA"),
    },
    Group {
        name: "peers-enron",
        title: "email-Enron, beside libraries",
        measure: |lab| calls::all(lab, "email-Enron"),
    },
    Group {
        name: "peers-wave",
        title: "wave, beside libraries",
        measure: |lab| calls::all(lab, "wave"),
    },
    Group {
        name: "peers-quality-com-dblp",
        title: "Communities of com-dblp",
        measure: |lab| communities::of_data(lab, "com-dblp.ungraph"),
    },
    Group {
        name: "peers-quality-slashdot",
        title: "Communities of soc-sign-Slashdot090221",
        measure: |lab| communities::of_data(lab, "soc-sign-Slashdot090221"),
    },
    Group {
        name: "peers-quality-cnr-2000",
        title: "Communities of cnr-2000",
        measure: |lab| communities::of_data(lab, "cnr-2000"),
    },
    Group {
        name: "peers-quality-roads",
        title: "Communities of USA-road-FLA",
        measure: |lab| communities::of_data(lab, "USA-road-FLA"),
    },
    Group {
        name: "peers-quality-enron",
        title: "Communities of email-Enron",
        measure: |lab| communities::of_data(lab, "email-Enron"),
    },
    Group {
        name: "peers-quality-wave",
        title: "Communities of wave",
        measure: |lab| communities::of_data(lab, "wave"),
    },
    Group {
        name: "peers-lfr-10",
        title: "Known communities, mixing 0.1",
        measure: |lab| communities::of_lfr(lab, 10),
    },
    Group {
        name: "peers-lfr-20",
        title: "Known communities, mixing 0.2",
        measure: |lab| communities::of_lfr(lab, 20),
    },
    Group {
        name: "peers-lfr-30",
        title: "Known communities, mixing 0.3",
        measure: |lab| communities::of_lfr(lab, 30),
    },
    Group {
        name: "peers-lfr-40",
        title: "Known communities, mixing 0.4",
        measure: |lab| communities::of_lfr(lab, 40),
    },
    Group {
        name: "peers-lfr-50",
        title: "Known communities, mixing 0.5",
        measure: |lab| communities::of_lfr(lab, 50),
    },
    Group {
        name: "peers-lfr-60",
        title: "Known communities, mixing 0.6",
        measure: |lab| communities::of_lfr(lab, 60),
    },
    Group {
        name: "equal-weights",
        title: "Shortest paths with equal weights, beside searches",
        measure: equal_weights::all,
    },
    Group { name: "auto", title: "The choice of executors, in memory", measure: auto::in_memory },
    Group {
        name: "auto-disk",
        title: "The choice of executors, from disk",
        measure: auto::from_disk,
    },
];
