//! The table of every compatibility flag the platform knows. Data only; what it means is decided where a flag is asked
//! for, and how dates and flags become a set is in [`super`].
//!
//! A row reads: the name here and the name that enables it; `off`, the name that disables it; `since`, the date from
//! which it is on by itself (`is always`: at every date); `is experimental`, only with permission;
//! `implied by [A B] since D`, also on where A or B is, from date D. Rows stand in the platform's order, which matters
//! where one implied flag implies another.

use super::{FlagInfo, Implied, Mark};

macro_rules! flags {
    ($($variant:ident = $name:literal $(, off $off:literal)? $(, since $since:literal)? $(, is $mark:ident)?
        $(, implied by [$($by:ident)+] since $by_since:literal)?;)*) => {
        /// One compatibility flag, named after what enables it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Flag { $($variant),* }

        /// Every flag, in the order of [`Flag`].
        pub(super) static FLAGS: &[FlagInfo] = &[$(FlagInfo {
            flag: Flag::$variant,
            name: $name,
            off: optional!($($off)?),
            since: optional!($($since)?),
            mark: mark!($($mark)?),
            implied: optional!($(Implied { by: &[$(Flag::$by),+], since: $by_since })?),
        }),*];
    };
}

macro_rules! optional {
    () => {
        None
    };
    ($value:expr) => {
        Some($value)
    };
}

macro_rules! mark {
    () => {
        Mark::Plain
    };
    (always) => {
        Mark::Always
    };
    (experimental) => {
        Mark::Experimental
    };
}

flags! {
    FormdataParserSupportsFiles = "formdata_parser_supports_files", off "formdata_parser_converts_files_to_strings",
        since "2021-11-03";
    FetchRefusesUnknownProtocols = "fetch_refuses_unknown_protocols", off "fetch_treats_unknown_protocols_as_http",
        since "2021-11-10";
    HtmlRewriterTreatsEsiIncludeAsVoidTag = "html_rewriter_treats_esi_include_as_void_tag";
    DurableObjectFetchRequiresFullUrl = "durable_object_fetch_requires_full_url",
        off "durable_object_fetch_allows_relative_url", since "2021-11-10";
    StreamsByobReaderDetachesBuffer = "streams_byob_reader_detaches_buffer",
        off "streams_byob_reader_does_not_detach_buffer", since "2021-11-10";
    StreamsEnableConstructors = "streams_enable_constructors", off "streams_disable_constructors", since "2022-11-30";
    WorkersApiGettersSettersOnPrototype = "workers_api_getters_setters_on_prototype",
        off "workers_api_getters_setters_on_instance", since "2022-01-31";
    MinimalSubrequests = "minimal_subrequests", off "no_minimal_subrequests", since "2022-04-05";
    NoCotsOnExternalFetch = "no_cots_on_external_fetch", off "cots_on_external_fetch", since "2022-03-08";
    UrlStandard = "url_standard", off "url_original", since "2022-10-31";
    GlobalNavigator = "global_navigator", off "no_global_navigator", since "2022-03-21";
    CaptureAsyncApiThrows = "capture_async_api_throws", off "do_not_capture_async_api_throws", since "2022-10-31";
    R2PublicBetaBindings = "r2_public_beta_bindings", off "r2_internal_beta_bindings", is always;
    DurableObjectAlarms = "durable_object_alarms";
    DontSubstituteNullOnTypeError = "dont_substitute_null_on_type_error", off "substitute_null_on_type_error",
        since "2022-06-01";
    TransformstreamEnableStandardConstructor = "transformstream_enable_standard_constructor",
        off "transformstream_disable_standard_constructor", since "2022-11-30";
    R2ListHonorInclude = "r2_list_honor_include", since "2022-08-04";
    ExportCommonjsDefault = "export_commonjs_default", off "export_commonjs_namespace", since "2022-10-31";
    DurableObjectRename = "durable_object_rename", is experimental;
    WebSocketCompression = "web_socket_compression", off "no_web_socket_compression", since "2023-08-15";
    NodejsCompat = "nodejs_compat", off "no_nodejs_compat", since "2026-08-04";
    TcpSocketsSupport = "tcp_sockets_support";
    ResponseRedirectUrlStandard = "response_redirect_url_standard", off "response_redirect_url_original",
        since "2023-03-14";
    Experimental = "experimental", is experimental;
    DurableObjectGetExisting = "durable_object_get_existing", is experimental;
    HttpHeadersGetsetcookie = "http_headers_getsetcookie", off "no_http_headers_getsetcookie", since "2023-03-01";
    DynamicDispatchTunnelExceptions = "dynamic_dispatch_tunnel_exceptions",
        off "dynamic_dispatch_treat_exceptions_as_500", since "2023-03-01";
    ServiceBindingExtraHandlers = "service_binding_extra_handlers", is experimental;
    NoCfBotmanagementDefault = "no_cf_botmanagement_default", off "cf_botmanagement_default", since "2023-08-01";
    UrlsearchparamsDeleteHasValueArg = "urlsearchparams_delete_has_value_arg",
        off "no_urlsearchparams_delete_has_value_arg", since "2023-07-01";
    StrictCompressionChecks = "strict_compression_checks", off "no_strict_compression_checks", since "2023-08-01";
    BrotliContentEncoding = "brotli_content_encoding", off "no_brotli_content_encoding", since "2024-04-29";
    StrictCryptoChecks = "strict_crypto_checks", off "no_strict_crypto_checks", since "2023-08-01";
    RttiApi = "rtti_api", is experimental;
    Webgpu = "webgpu", is experimental;
    CryptoPreservePublicExponent = "crypto_preserve_public_exponent", off "no_crypto_preserve_public_exponent",
        since "2023-12-01";
    VectorizeQueryMetadataOptional = "vectorize_query_metadata_optional", off "vectorize_query_original",
        since "2023-11-08";
    UnsafeModule = "unsafe_module", is experimental;
    JsRpc = "js_rpc", is experimental;
    NoGlobalImportscripts = "no_global_importscripts", off "global_importscripts", since "2024-03-04";
    NodejsAls = "nodejs_als", off "no_nodejs_als";
    QueuesJsonMessages = "queues_json_messages", off "no_queues_json_messages", since "2024-03-18";
    PythonWorkers = "python_workers", implied by [PythonWorkersDevelopment] since "2000-01-01";
    FetcherNoGetPutDelete = "fetcher_no_get_put_delete", off "fetcher_has_get_put_delete", since "2024-03-26";
    UnwrapCustomThenables = "unwrap_custom_thenables", off "no_unwrap_custom_thenables", since "2024-04-01";
    Rpc = "rpc", off "no_rpc", since "2024-04-03";
    InternalStreamByobReturnView = "internal_stream_byob_return_view", off "internal_stream_byob_return_undefined",
        since "2024-05-13";
    BlobStandardMimeType = "blob_standard_mime_type", off "blob_legacy_mime_type", since "2024-06-03";
    FetchStandardUrl = "fetch_standard_url", off "fetch_legacy_url", since "2024-06-03";
    NodejsCompatV2 = "nodejs_compat_v2", off "no_nodejs_compat_v2", since "2026-08-04",
        implied by [NodejsCompat] since "2024-09-23";
    GlobalFetchStrictlyPublic = "global_fetch_strictly_public", off "global_fetch_private_origin";
    NewModuleRegistry = "new_module_registry", off "legacy_module_registry";
    CacheOptionEnabled = "cache_option_enabled", off "cache_option_disabled", since "2024-11-11";
    KvDirectBinding = "kv_direct_binding", is experimental;
    AllowCustomPorts = "allow_custom_ports", off "ignore_custom_ports", since "2024-09-02";
    IncreaseWebsocketMessageSize = "increase_websocket_message_size", is experimental;
    InternalWritableStreamAbortClearsQueue = "internal_writable_stream_abort_clears_queue",
        off "internal_writable_stream_abort_does_not_clear_queue", since "2024-09-02";
    PythonWorkersDevelopment = "python_workers_development", is experimental;
    NodejsZlib = "nodejs_zlib", off "no_nodejs_zlib", implied by [NodejsCompat NodejsCompatV2] since "2024-09-23";
    ReplicaRouting = "replica_routing", is experimental;
    EnableD1WithSessionsApi = "enable_d1_with_sessions_api", is experimental;
    HandleCrossRequestPromiseResolution = "handle_cross_request_promise_resolution",
        off "no_handle_cross_request_promise_resolution", since "2024-10-14";
    SetTostringTag = "set_tostring_tag", off "do_not_set_tostring_tag", since "2024-09-26";
    UpperCaseAllHttpMethods = "upper_case_all_http_methods", off "no_upper_case_all_http_methods", since "2024-10-14";
    PythonExternalPackages = "python_external_packages";
    DisableTopLevelAwaitInRequire = "disable_top_level_await_in_require", off "enable_top_level_await_in_require",
        since "2024-12-02";
    FixupTransformStreamBackpressure = "fixup-transform-stream-backpressure",
        off "original-transform-stream-backpressure", since "2024-12-16";
    TailWorkerUserSpans = "tail_worker_user_spans", is experimental;
    CacheNoCacheEnabled = "cache_no_cache_enabled", off "cache_no_cache_disabled",
        implied by [CacheOptionEnabled] since "2025-08-07";
    PythonWorkers20250116 = "python_workers_20250116", off "no_python_workers_20250116",
        implied by [PythonWorkers] since "2025-09-29";
    RequestCfOverridesCacheRules = "request_cf_overrides_cache_rules", off "no_request_cf_overrides_cache_rules",
        since "2025-04-02";
    MemoryCacheDelete = "memory_cache_delete", is experimental;
    QueueConsumerNoWaitForWaitUntil = "queue_consumer_no_wait_for_wait_until",
        off "queue_consumer_wait_for_wait_until";
    NodejsCompatPopulateProcessEnv = "nodejs_compat_populate_process_env",
        off "nodejs_compat_do_not_populate_process_env", implied by [NodejsCompat] since "2025-04-01";
    CacheApiRequestCfOverridesCacheRules = "cache_api_request_cf_overrides_cache_rules",
        off "no_cache_api_request_cf_overrides_cache_rules", since "2025-05-19";
    DisallowImportableEnv = "disallow_importable_env", off "allow_importable_env";
    AssetsNavigationPrefersAssetServing = "assets_navigation_prefers_asset_serving",
        off "assets_navigation_has_no_effect", since "2025-04-01";
    CacheApiCompatFlags = "cache_api_compat_flags", off "no_cache_api_compat_flags", since "2025-04-19";
    PythonWorkersDurableObjects = "python_workers_durable_objects", is experimental;
    StreamingTailWorker = "streaming_tail_worker", is experimental;
    UrlpatternStandard = "urlpattern_standard", off "urlpattern_original", since "2025-05-01";
    EnableWeakRef = "enable_weak_ref", off "disable_weak_ref", since "2025-05-05";
    RequestSignalPassthrough = "request_signal_passthrough", off "no_request_signal_passthrough";
    EnableNavigatorLanguage = "enable_navigator_language", off "disable_navigator_language", since "2025-05-19";
    EnableWebFileSystem = "enable_web_file_system", is experimental;
    EnableAbortsignalRpc = "enable_abortsignal_rpc", is experimental;
    AllowEvalDuringStartup = "allow_eval_during_startup", off "disallow_eval_during_startup", since "2025-06-01";
    EnableRequestSignal = "enable_request_signal", off "disable_request_signal";
    ConnectPassThrough = "connect_pass_through", is experimental;
    BindAsynclocalstorageSnapshotToRequest = "bind_asynclocalstorage_snapshot_to_request",
        off "do_not_bind_asynclocalstorage_snapshot_to-request", since "2025-06-16";
    ThrowOnUnrecognizedImportAssertion = "throw_on_unrecognized_import_assertion",
        off "ignore_unrecognized_import_assertion", since "2025-06-16";
    PythonWorkflows = "python_workflows", off "disable_python_workflows", implied by [PythonWorkers] since "2025-09-20";
    UnsupportedProcessActualPlatform = "unsupported_process_actual_platform", is experimental;
    EnableNodejsProcessV2 = "enable_nodejs_process_v2", off "disable_nodejs_process_v2",
        implied by [NodejsCompat] since "2025-09-15";
    SetEventTargetThis = "set_event_target_this", off "no_set_event_target_this", since "2025-08-01";
    SetForwardableEmailFullHeaders = "set_forwardable_email_full_headers", off "set_forwardable_email_single_headers",
        since "2025-08-01";
    EnableNodejsHttpModules = "enable_nodejs_http_modules", off "disable_nodejs_http_modules",
        implied by [NodejsCompat] since "2025-08-15";
    PedanticWpt = "pedantic_wpt", off "non_pedantic_wpt";
    ExposeGlobalMessageChannel = "expose_global_message_channel", off "no_expose_global_message_channel",
        since "2025-08-15";
    EnableNodejsHttpServerModules = "enable_nodejs_http_server_modules", off "disable_nodejs_http_server_modules",
        implied by [EnableNodejsHttpModules] since "2025-09-01";
    PythonNoGlobalHandlers = "python_no_global_handlers", off "disable_python_no_global_handlers", since "2025-08-14";
    EnableNodejsFsModule = "enable_nodejs_fs_module", off "disable_nodejs_fs_module",
        implied by [NodejsCompat] since "2025-09-15";
    EnableNodejsOsModule = "enable_nodejs_os_module", off "disable_nodejs_os_module",
        implied by [NodejsCompat] since "2025-09-15";
    PythonWorkersForceNewVendorPath = "python_workers_force_new_vendor_path", since "2025-08-11";
    RemoveNodejsCompatEol = "remove_nodejs_compat_eol", off "add_nodejs_compat_eol",
        implied by [NodejsCompat] since "2025-09-01";
    EnableValidateWorkflowEntrypoint = "enable_validate_workflow_entrypoint",
        off "disable_validate_workflow_entrypoint", since "2025-09-20";
    PythonDedicatedSnapshot = "python_dedicated_snapshot", off "disable_python_dedicated_snapshot",
        implied by [PythonWorkers20250116] since "2025-10-16";
    TypescriptStripTypes = "typescript_strip_types", is experimental;
    EnableNodejsHttp2Module = "enable_nodejs_http2_module", off "disable_nodejs_http2_module",
        implied by [NodejsCompat] since "2025-09-01";
    AllowInsecureInefficientLoggedEval = "allow_insecure_inefficient_logged_eval", is experimental;
    StripAuthorizationOnCrossOriginRedirect = "strip_authorization_on_cross_origin_redirect",
        off "retain_authorization_on_cross_origin_redirect", since "2025-09-01";
    EnhancedErrorSerialization = "enhanced_error_serialization", off "legacy_error_serialization", since "2026-04-21";
    EnableEmailSendingQueuing = "enable_email_sending_queuing", off "disable_email_sending_queuing";
    RemoveNodejsCompatEolV22 = "remove_nodejs_compat_eol_v22", off "add_nodejs_compat_eol_v22",
        implied by [RemoveNodejsCompatEol] since "2027-04-30";
    RemoveNodejsCompatEolV23 = "remove_nodejs_compat_eol_v23", off "add_nodejs_compat_eol_v23",
        implied by [RemoveNodejsCompatEolV24] since "2025-09-01";
    RemoveNodejsCompatEolV24 = "remove_nodejs_compat_eol_v24", off "add_nodejs_compat_eol_v24",
        implied by [RemoveNodejsCompatEol] since "2028-04-30";
    EnableNodejsConsoleModule = "enable_nodejs_console_module", off "disable_nodejs_console_module",
        implied by [NodejsCompat] since "2025-09-21";
    EnableNodejsVmModule = "enable_nodejs_vm_module", off "disable_nodejs_vm_module",
        implied by [NodejsCompat] since "2025-10-01";
    EnableNodejsPerfHooksModule = "enable_nodejs_perf_hooks_module", off "disable_nodejs_perf_hooks_module",
        implied by [NodejsCompat] since "2026-03-17";
    EnableGlobalPerformanceClasses = "enable_global_performance_classes", off "disable_global_performance_classes",
        implied by [NodejsCompat] since "2026-03-17";
    EnableNodejsDomainModule = "enable_nodejs_domain_module", off "disable_nodejs_domain_module",
        implied by [NodejsCompat] since "2025-12-04";
    EnableNodejsV8Module = "enable_nodejs_v8_module", off "disable_nodejs_v8_module",
        implied by [NodejsCompat] since "2026-03-17";
    EnableNodejsTtyModule = "enable_nodejs_tty_module", off "disable_nodejs_tty_module",
        implied by [NodejsCompat] since "2026-03-17";
    EnableNodejsPunycodeModule = "enable_nodejs_punycode_module", off "disable_nodejs_punycode_module",
        implied by [NodejsCompat] since "2025-12-04";
    EnableNodejsClusterModule = "enable_nodejs_cluster_module", off "disable_nodejs_cluster_module",
        implied by [NodejsCompat] since "2025-12-04";
    EnableNodejsChildProcessModule = "enable_nodejs_child_process_module", off "disable_nodejs_child_process_module",
        implied by [NodejsCompat] since "2026-03-17";
    EnableNodejsWorkerThreadsModule = "enable_nodejs_worker_threads_module",
        off "disable_nodejs_worker_threads_module", implied by [NodejsCompat] since "2026-03-17";
    EnableNodejsStreamWrapModule = "enable_nodejs_stream_wrap_module", off "disable_nodejs_stream_wrap_module",
        implied by [NodejsCompat] since "2026-01-29";
    EnableNodejsWasiModule = "enable_nodejs_wasi_module", off "disable_nodejs_wasi_module",
        implied by [NodejsCompat] since "2025-12-04";
    EnableNodejsDgramModule = "enable_nodejs_dgram_module", off "disable_nodejs_dgram_module",
        implied by [NodejsCompat] since "2026-01-29";
    EnableNodejsInspectorModule = "enable_nodejs_inspector_module", off "disable_nodejs_inspector_module",
        implied by [NodejsCompat] since "2026-01-29";
    EnableNodejsTraceEventsModule = "enable_nodejs_trace_events_module", off "disable_nodejs_trace_events_module",
        implied by [NodejsCompat] since "2025-12-04";
    EnableNodejsReadlineModule = "enable_nodejs_readline_module", off "disable_nodejs_readline_module",
        implied by [NodejsCompat] since "2026-03-17";
    EnableNodejsReplModule = "enable_nodejs_repl_module", off "disable_nodejs_repl_module",
        implied by [NodejsCompat] since "2026-03-17";
    EnableNodejsSqliteModule = "enable_nodejs_sqlite_module", off "disable_nodejs_sqlite_module",
        implied by [NodejsCompat] since "2026-01-29";
    EnableCtxExports = "enable_ctx_exports", off "disable_ctx_exports", since "2025-11-17";
    EnablePythonExternalSdk = "enable_python_external_sdk", off "disable_python_external_sdk", since "2026-04-21";
    EnableFastJsgStruct = "enable_fast_jsg_struct", off "disable_fast_jsg_struct", since "2025-12-03";
    CacheReloadEnabled = "cache_reload_enabled", off "cache_reload_disabled", is experimental;
    EnableStreamsNodejsV24Compat = "enable_streams_nodejs_v24_compat", off "disable_streams_nodejs_v24_compat";
    ImmutableApiPrototypes = "immutable_api_prototypes", off "mutable_api_prototypes";
    FetchIterableTypeSupport = "fetch_iterable_type_support", off "no_fetch_iterable_type_support", since "2026-02-19";
    EnvModuleNullableSupport = "env_module_nullable_support", off "no_env_module_nullable_support";
    PreciseTimers = "precise_timers", off "no_precise_timers", is experimental;
    FetchIterableTypeSupportOverrideAdjustment = "fetch_iterable_type_support_override_adjustment",
        off "no_fetch_iterable_type_support_override_adjustment",
        implied by [FetchIterableTypeSupport] since "2026-01-15";
    StripBomInReadAllText = "strip_bom_in_read_all_text", off "do_not_strip_bom_in_read_all_text", since "2026-01-13",
        implied by [PedanticWpt] since "2026-01-13";
    AllowIrrevocableStubStorage = "allow_irrevocable_stub_storage";
    RpcParamsDupStubs = "rpc_params_dup_stubs", off "rpc_params_transfer_stubs", since "2026-01-20";
    EnableNodejsGlobalTimers = "enable_nodejs_global_timers", off "no_nodejs_global_timers",
        implied by [NodejsCompat] since "2026-02-10";
    StreamsNoDefaultAutoAllocateChunkSize = "streams_no_default_auto_allocate_chunk_size",
        off "streams_auto_allocate_chunk_size_default", is experimental;
    PythonWorkflowsImplicitDependencies = "python_workflows_implicit_dependencies",
        off "no_python_workflows_implicit_dependencies", implied by [PythonWorkers] since "2026-02-25";
    RequireReturnsDefaultExport = "require_returns_default_export", off "require_returns_namespace",
        since "2026-01-22";
    PythonRequestHeadersPreserveCommas = "python_request_headers_preserve_commas",
        off "disable_python_request_headers_preserve_commas", since "2026-02-17";
    QueueExposeErrorCodes = "queue_expose_error_codes", off "no_queue_expose_error_codes", since "2026-03-12";
    TextDecoderReplaceSurrogates = "text_decoder_replace_surrogates", off "disable_text_decoder_replace_surrogates",
        since "2026-02-24", implied by [PedanticWpt] since "2026-02-24";
    ContainersPidNamespace = "containers_pid_namespace", off "no_containers_pid_namespace", since "2026-04-01";
    DeleteAllDeletesAlarm = "delete_all_deletes_alarm", off "delete_all_preserves_alarm", since "2026-02-24";
    UnhandledRejectionAfterMicrotaskCheckpoint = "unhandled_rejection_after_microtask_checkpoint",
        off "no_unhandled_rejection_after_microtask_checkpoint", since "2026-03-03";
    TextDecoderCjkDecoder = "text_decoder_cjk_decoder", off "disable_text_decoder_cjk_decoder", since "2026-03-03";
    WebsocketCloseReasonByteLimit = "websocket_close_reason_byte_limit", off "no_websocket_close_reason_byte_limit",
        since "2026-03-03";
    EnableVersionApi = "enable_version_api", is experimental;
    WebsocketStandardBinaryType = "websocket_standard_binary_type", off "no_websocket_standard_binary_type",
        since "2026-03-17";
    WritableStreamSpecCompliantWriter = "writable_stream_spec_compliant_writer",
        off "no_writable_stream_spec_compliant_writer", since "2026-03-24";
    EncoderStreamSpecCompliantBackpressure = "encoder_stream_spec_compliant_backpressure",
        off "no_encoder_stream_spec_compliant_backpressure", since "2026-03-24";
    SpecCompliantPropertyAttributes = "spec_compliant_property_attributes",
        off "no_spec_compliant_property_attributes", is experimental;
    WorkflowsPreserveNonRetryableErrorMessage = "workflows_preserve_non_retryable_error_message",
        off "workflows_replace_non_retryable_error_message", since "2026-05-14";
    WebSocketAutoReplyToClose = "web_socket_auto_reply_to_close", off "web_socket_manual_reply_to_close",
        since "2026-04-07";
    EnableCtxVersionMetadata = "enable_ctx_version_metadata", is experimental;
    NoResizableArrayBufferInBlob = "no_resizable_array_buffer_in_blob", off "resizable_array_buffer_in_blob";
    DiagnosticsChannelHasSubscribersGetter = "diagnostics_channel_has_subscribers_getter",
        off "no_diagnostics_channel_has_subscribers_getter", since "2026-05-19";
    WorkflowsStepRollback = "workflows_step_rollback", is experimental;
    PythonProcessPthFiles = "python_process_pth_files", off "disable_python_process_pth_files", since "2026-05-26";
    ThrowOnNotImplementedTlsOptions = "throw_on_not_implemented_tls_options",
        off "no_throw_on_not_implemented_tls_options", since "2026-06-16";
    AutoGrpcConvert = "auto_grpc_convert", is experimental;
    PythonWorkers20260610 = "python_workers_20260610", off "no_python_workers_20260610";
    EnableNodejsInspectorLocalDev = "enable_nodejs_inspector_local_dev", is experimental;
    D1BindingJsrpc = "d1_binding_jsrpc", is experimental;
    WorkflowsBindingsRpc = "workflows_bindings_rpc", is experimental;
    TypescriptImplementedStreams = "typescript_implemented_streams", is experimental;
    ExposeDrainingReader = "expose_draining_reader", is experimental;
    WorkflowsEnableFastEngineCreation = "workflows_enable_fast_engine_creation",
        off "workflows_disable_fast_engine_creation", since "2026-08-11";
    WasmMemoryDiscard = "wasm_memory_discard", is experimental;
    PythonWorkers20260817 = "python_workers_20260817", off "no_python_workers_20260817", is experimental;
    UniqueCtxPerInvocation = "unique_ctx_per_invocation", since "2025-03-10";
    SpecCompliantDispatchExceptions = "spec_compliant_dispatch_exceptions", off "no_spec_compliant_dispatch_exceptions",
        since "2026-09-15";
    DurableObjectIoTasksPreventEviction = "durable_object_io_tasks_prevent_eviction",
        off "durable_object_io_tasks_do_not_prevent_eviction", since "2026-10-01";
    PipeToBackwardPropagation = "pipe_to_backward_propagation", off "no_pipe_to_backward_propagation",
        since "2026-11-17";
    CacheOptionPreservesCacheControl = "cache_option_preserves_cache_control",
        off "cache_option_overrides_cache_control", since "2026-11-17";
    NodejsProcessVersion24 = "nodejs_process_version_24", off "no_nodejs_process_version_24", since "2026-11-24";
    PythonCheckRngState = "python_check_rng_state", off "disable_python_check_rng_state";
    PythonWorkers314 = "python_workers_314", off "no_python_workers_314";
    PythonDedicatedSnapshotKeepImportCaches = "python_dedicated_snapshot_keep_import_caches",
        off "no_python_dedicated_snapshot_keep_import_caches";
    PythonSharedStandardLibrary = "python_shared_standard_library";
    PythonZstdSnapshot = "python_zstd_snapshot", is experimental;
    AutoInjectPythonWorkers = "auto_inject_python_workers", off "no_auto_inject_python_workers", is experimental;
    DurableObjectSnapshots = "durable_object_snapshots", is experimental;
    ConnectHandlerStarttls = "connect_handler_starttls", is experimental;
    OffpeakLocationHint = "offpeak_location_hint", is experimental;
    R2BindingJsrpc = "r2_binding_jsrpc", is experimental;
    RpcDisposeCancelsCall = "rpc_dispose_cancels_call", is experimental;
    ExposeSerializationTestClass = "expose_serialization_test_class", is experimental;
    WasmSourceUrlSupport = "wasm_source_url_support", off "no_wasm_source_url_support";
    WasmEsmIntegrationBuiltins = "wasm_esm_integration_builtins";
    WebcryptoModernAlgorithms = "webcrypto_modern_algorithms";
    Temporal = "temporal", off "no_temporal";
    NonclassEntrypointReusesCtxAcrossInvocations = "nonclass_entrypoint_reuses_ctx_across_invocations";
}
