//! Inner loops, compiled once for each instruction set that a processor may have.

#[cfg(target_arch = "x86_64")]
use tegula_store::tiles::{Avx2, Avx512, InstructionSet, Portable};

/// The instructions that inner loops may use.
#[derive(Debug, Clone, Copy)]
pub enum Instructions {
    /// AVX-512.
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
    /// AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    /// The instructions of the compilation target.
    Portable,
}

impl Instructions {
    /// Returns the best instructions that this processor has.
    pub fn detect() -> Instructions {
        Instructions::all().into_iter().next().unwrap_or(Instructions::Portable)
    }

    /// Returns all that this processor has, the best first.
    pub fn all() -> Vec<Instructions> {
        let mut all = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            all.extend(Avx512::detect().map(Instructions::Avx512));
            all.extend(Avx2::detect().map(Instructions::Avx2));
        }
        all.push(Instructions::Portable);
        all
    }

    /// Runs `work` with these instructions.
    pub fn run<T: WithInstructions>(self, work: T) -> T::Output {
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the value in it proves that this processor has the instructions.
            Instructions::Avx512(proof) => unsafe { run_avx512(work, proof) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Instructions::Avx2(proof) => unsafe { run_avx2(work, proof) },
            Instructions::Portable => work.run(Portable),
        }
    }
}

/// Work that is compiled for each instruction set. `run` must be `#[inline(always)]`, and so must
/// all hot code that it calls.
pub trait WithInstructions {
    /// What the work returns.
    type Output;
    /// Does the work.
    fn run<I: InstructionSet>(self, instructions: I) -> Self::Output;
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi1,bmi2,popcnt,lzcnt")]
fn run_avx512<T: WithInstructions>(work: T, proof: Avx512) -> T::Output {
    work.run(proof)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn run_avx2<T: WithInstructions>(work: T, proof: Avx2) -> T::Output {
    work.run(proof)
}
