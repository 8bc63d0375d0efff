//! Workers: code, compatibility, Durable Object namespaces, where their events and traces go.

use loaderd_loader::CallerCaps;
use loaderd_loader::config::{
    Compatibility, DurableObjectNamespace, DurableObjectStorage, FieldPath, Module, NamespaceKind, ServiceDesignator,
    Worker, WorkerCode,
};
use loaderd_runtime::limits::ResourceLimits;
use loaderd_runtime::modules::ModuleContent;
use loaderd_schema::workerd_capnp as schema;

use super::{Decoded, Decoder};

impl Decoder {
    pub(super) fn worker(&mut self, path: &FieldPath, worker: schema::worker::Reader<'_>) -> Decoded<Worker> {
        self.refuse_unsupported(path, worker)?;
        let code = self.code(path, worker)?;
        let date = path.field("compatibilityDate");
        let compatibility = Compatibility {
            date: self.optional_text(&date, worker.has_compatibility_date(), worker.get_compatibility_date())?,
            flags: self.texts(&path.field("compatibilityFlags"), worker.get_compatibility_flags())?,
        };
        let at = path.field("bindings");
        let bindings = self.part(&at, worker.get_bindings())?;
        let bindings = self.list(&at, bindings.iter(), Self::binding);
        let at = path.field("durableObjectNamespaces");
        let namespaces = self.part(&at, worker.get_durable_object_namespaces())?;
        let namespaces = self.list(&at, namespaces.iter(), Self::namespace);
        let cache = path.field("cacheApiOutbound");
        Ok(Worker {
            code,
            compatibility,
            bindings,
            global_outbound: self.designator(&path.field("globalOutbound"), worker.get_global_outbound())?,
            cache_api_outbound: if worker.has_cache_api_outbound() {
                Some(self.designator(&cache, worker.get_cache_api_outbound())?)
            } else {
                None
            },
            durable_object_namespaces: namespaces,
            durable_object_storage: self.storage(path, worker)?,
            tails: self.designators(&path.field("tails"), worker.get_tails())?,
            streaming_tails: self.designators(&path.field("streamingTails"), worker.get_streaming_tails())?,
            limits: ResourceLimits::default(),
            caller_caps: CallerCaps::default(),
        })
    }

    fn refuse_unsupported(&mut self, path: &FieldPath, worker: schema::worker::Reader<'_>) -> Decoded<()> {
        use schema::worker::container_engine::Which;
        let mut refused = Ok(());
        let mut refuse = |this: &mut Self, is_set: bool, field: &str, instead: &str| {
            if is_set {
                refused = Err(this.unsupported(&path.field(field), &format!("`{field}` is"), instead));
            }
        };
        let inheritance = "It belongs to `inherit`, which is not supported either: write the Worker out.";
        refuse(self, worker.has_durable_object_unique_key_modifier(), "durableObjectUniqueKeyModifier", inheritance);
        let modules = "List every module under `modules`.";
        refuse(self, worker.has_module_fallback(), "moduleFallback", modules);
        let access = "Remove it: `ctx.access` does not exist here.";
        refuse(self, worker.has_access_blob_header(), "accessBlobHeader", access);
        refuse(self, worker.has_access_binding_service(), "accessBindingService", access);
        let engine = path.field("containerEngine");
        match self.union(&engine, worker.get_container_engine().which())? {
            Which::None(()) => {}
            Which::LocalDocker(_) => {
                let instead = "Remove it: containers are not run.";
                refuse(self, true, "containerEngine", instead);
            }
        }
        refused
    }

    fn code(&mut self, path: &FieldPath, worker: schema::worker::Reader<'_>) -> Decoded<WorkerCode> {
        use schema::worker::Which;
        match self.union(path, worker.which())? {
            Which::Modules(modules) => {
                let path = path.field("modules");
                let modules = self.part(&path, modules)?;
                // A module that cannot be decoded makes the whole fail, so the first one stays the first.
                Ok(WorkerCode::Modules(self.list(&path, modules.iter(), Self::module)))
            }
            Which::ServiceWorkerScript(script) => {
                self.source(&path.field("serviceWorkerScript"), script).map(WorkerCode::ServiceWorker)
            }
            Which::Inherit(_) => {
                let instead = "Write the Worker out; a constant can hold what several share.";
                Err(self.unsupported(&path.field("inherit"), "`inherit` is", instead))
            }
        }
    }

    fn module(&mut self, path: &FieldPath, module: schema::worker::module::Reader<'_>) -> Decoded<Module> {
        use schema::worker::module::Which;
        let name = self.text(&path.field("name"), module.get_name())?;
        let content = match self.union(path, module.which())? {
            Which::EsModule(source) => ModuleContent::EsModule(self.source(&path.field("esModule"), source)?),
            Which::CommonJsModule(source) => {
                ModuleContent::CommonJs(self.source(&path.field("commonJsModule"), source)?.into())
            }
            Which::Text(text) => ModuleContent::Text(self.source(&path.field("text"), text)?),
            Which::Data(data) => ModuleContent::Data(self.bytes(&path.field("data"), data)?),
            Which::Wasm(wasm) => ModuleContent::Wasm(self.bytes(&path.field("wasm"), wasm)?),
            Which::Json(json) => ModuleContent::Json(self.source(&path.field("json"), json)?),
            Which::PythonModule(_) => {
                let instead = "Write the Worker in JavaScript or WebAssembly.";
                return Err(self.unsupported(&path.field("pythonModule"), "Python modules are", instead));
            }
            Which::Obsolete(_) => {
                let instead = "Use `commonJsModule` or `esModule`.";
                return Err(self.unsupported(&path.field("obsolete"), "This obsolete kind of module is", instead));
            }
            Which::ObsoletePythonRequirement(_) => {
                let path = path.field("obsoletePythonRequirement");
                return Err(self.unsupported(&path, "Python requirements are", "Remove it."));
            }
        };
        let named_exports = self.texts(&path.field("namedExports"), module.get_named_exports())?;
        Ok(Module { name, content, named_exports })
    }

    fn designators(
        &mut self,
        path: &FieldPath,
        read: capnp::Result<capnp::struct_list::Reader<'_, schema::service_designator::Owned>>,
    ) -> Decoded<Vec<ServiceDesignator>> {
        let designators = self.part(path, read)?;
        Ok(self.list(path, designators.iter(), |this, path, it| this.designator(path, Ok(it))))
    }

    fn namespace(
        &mut self,
        path: &FieldPath,
        namespace: schema::worker::durable_object_namespace::Reader<'_>,
    ) -> Decoded<DurableObjectNamespace> {
        use schema::worker::durable_object_namespace::Which;
        if namespace.has_container() {
            let instead = "Remove it: containers are not run.";
            return Err(self.unsupported(&path.field("container"), "`container` is", instead));
        }
        Ok(DurableObjectNamespace {
            class_name: self.text(&path.field("className"), namespace.get_class_name())?,
            kind: match self.union(path, namespace.which())? {
                Which::UniqueKey(key) => {
                    NamespaceKind::Durable { unique_key: self.text(&path.field("uniqueKey"), key)? }
                }
                Which::EphemeralLocal(()) => NamespaceKind::EphemeralLocal,
            },
            prevent_eviction: namespace.get_prevent_eviction(),
            enable_sql: namespace.get_enable_sql(),
        })
    }

    fn storage(&mut self, path: &FieldPath, worker: schema::worker::Reader<'_>) -> Decoded<DurableObjectStorage> {
        use schema::worker::durable_object_storage::Which;
        let path = path.field("durableObjectStorage");
        Ok(match self.union(&path, worker.get_durable_object_storage().which())? {
            Which::None(()) => DurableObjectStorage::None,
            Which::InMemory(()) => DurableObjectStorage::InMemory,
            Which::LocalDisk(service) => {
                DurableObjectStorage::LocalDisk { service: self.text(&path.field("localDisk"), service)? }
            }
        })
    }
}
