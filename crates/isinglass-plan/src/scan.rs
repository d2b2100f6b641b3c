//! Thermodynamics over temperature: the temperatures of a request, and the engine for all of them.

use isinglass::engine::auto::Reason;
use isinglass::engine::{AisSettings, Scan, ScanRequest, Temperatures};
use isinglass::{Engine, Error, Evidence, Machine};

use crate::{EngineName, EngineSettings, Note, Result, Task};

impl EngineSettings {
    /// Takes the setting `temperatures` out: in a scan it is not that of an engine.
    pub fn take_temperatures(&mut self) -> Option<Temperatures> {
        self.given.remove("temperatures");
        self.group.ais.temperatures = AisSettings::default().temperatures;
        self.group.temper.temperatures.take()
    }

    /// The thermodynamics of a machine, and the name of the engine that knows it. `auto` takes one
    /// engine for all temperatures: an exact one within the budget, otherwise tempering.
    pub fn scan(
        &self,
        machine: &Machine,
        evidence: &Evidence,
        request: &ScanRequest,
        note: &dyn Fn(Note),
    ) -> Result<(&'static str, Scan)> {
        let request = request.clone().seed(self.seed());
        let ask = |engine: &dyn Engine| -> Result<(&'static str, Scan)> {
            let scanner = engine.scanner().ok_or_else(|| Error::CannotDo {
                who: engine.name(),
                what: "scan temperatures".into(),
                why: "decimate, eliminate, enumerate and temper can".into(),
            })?;
            Ok((engine.name(), scanner.scan(machine, evidence, &request)?))
        };
        let engine = self.choose(machine, evidence, Task::Answer, note)?;
        match ask(&*engine) {
            // Numbers that carry derivatives take more memory than those by which `auto` chose.
            Err(crate::Error::Core(refusal @ Error::OverBudget { .. }))
                if self.engine == EngineName::Auto && engine.is_exact() =>
            {
                let name = EngineName::Temper;
                note(Note::Engine(Reason::Sampling { engine: name.word(), refusal }));
                ask(&isinglass::Temper::from(self.group.temper))
            }
            found => found,
        }
    }
}
