@0xe6afd26682091c01;
# workerd's configuration format. Names, ordinals, types and defaults are workerd's own, so that its text configs mean
# the same here and its binary configs decode; the comments are ours. A member that loaderd refuses says so.

struct Config {
  # What one server runs: services that only see what is bound to them, and the sockets that reach them.

  services @0 :List(Service);
  # By name. A service called "internet" is defined implicitly (public addresses only) when none is listed.

  sockets @1 :List(Socket);
  # Where the server listens, and for which service.

  v8Flags @2 :List(Text);
  # Passed to V8 as they are, for example "--expose-gc".

  extensions @3 :List(Extension);
  # Modules offered to every Worker.

  autogates @4 :List(Text);
  # Names of gradual-rollout gates that are on.

  structuredLogging @5 :Bool = false;
  # Older spelling of `logging.structuredLogging`.

  logging @6 :LoggingOptions;
}

struct LoggingOptions {
  structuredLogging @0 :Bool = false;
  # Log lines as JSON objects.

  stdoutPrefix @1 :Text;
  stderrPrefix @2 :Text;
  # What comes before a Worker's process.stdout and process.stderr output; "stdout: " and "stderr: " when absent.
}

struct Socket {
  # An address, the protocol spoken there, and the service that answers.

  name @0 :Text;
  # What the command line calls it (--socket-addr, --socket-fd).

  address @1 :Text;
  # "*:8080", "127.0.0.1", "[::1]:80", "unix:PATH", "unix-abstract:NAME" or "host:port". Without one, the command line
  # must give an address or a descriptor.

  union {
    http @2 :HttpOptions;
    https :group {
      options @3 :HttpOptions;
      tlsOptions @4 :TlsOptions;
    }
    tcp :group {
      # Raw connections, delivered to the Worker's connect() handler.
      tlsOptions @6 :TlsOptions;
    }
  }

  service @5 :ServiceDesignator;
}

struct Service {
  name @0 :Text;
  # Unique; what designators refer to.

  union {
    unspecified @1 :Void;
    # Nobody said what the service is: an error.

    worker @2 :Worker;
    network @3 :Network;
    external @4 :ExternalServer;
    disk @5 :DiskDirectory;
  }
}

struct ServiceDesignator {
  # A reference to a service. `name` comes first, so a plain string stands for a reference by name.

  name @0 :Text;

  entrypoint @1 :Text;
  # A named export of the target Worker; the default export when absent.

  props :union {
    # `ctx.props` of each event that arrives through this reference.

    empty @2 :Void;
    json @3 :Text;
  }
}

struct Worker {
  union {
    modules @0 :List(Module);
    # The first one is the main module.

    serviceWorkerScript @1 :Text;
    # One classic script that calls addEventListener(); its bindings are globals.

    inherit @2 :Text;
    # Another Worker's name, whose code this one shares. Refused by loaderd.
  }

  struct Module {
    name @0 :Text;
    # What specifiers resolve to.

    union {
      esModule @1 :Text;
      commonJsModule @2 :Text;
      text @3 :Text;
      data @4 :Data;
      wasm @5 :Data;
      json @6 :Text;

      obsolete @7 :Text;
      # Once a Node compatibility module. Refused.

      pythonModule @8 :Text;
      # Refused by loaderd: it runs no Python.

      obsoletePythonRequirement @9 :Text;
      # Refused.
    }

    namedExports @10 :List(Text);
    # Of a commonJsModule: names that ES modules may import from it.
  }

  compatibilityDate @3 :Text;
  compatibilityFlags @4 :List(Text);
  # Which version of the platform's behaviour the Worker was written for. The date is required.

  bindings @5 :List(Binding);
  # The members of `env`.

  struct Binding {
    name @0 :Text;

    union {
      unspecified @1 :Void;
      # Nobody said what is bound: an error.

      parameter :group {
        # To be filled in by a Worker that inherits this one. Refused, as inheritance is.
        type @2 :Type;
        optional @3 :Bool;
      }

      text @4 :Text;
      data @5 :Data;
      json @6 :Text;

      wasmModule @7 :Data;
      # Only with serviceWorkerScript.

      cryptoKey @8 :CryptoKey;

      service @9 :ServiceDesignator;

      durableObjectClass @26 :ServiceDesignator;
      # A class without a namespace of its own, for facets.

      durableObjectNamespace @10 :DurableObjectNamespaceDesignator;

      kvNamespace @11 :ServiceDesignator;
      r2Bucket @12 :ServiceDesignator;
      # Operations become HTTP requests to the service.

      obsolete0 @13 :ServiceDesignator;
      # Refused.

      wrapped @14 :WrappedBinding;

      queue @15 :ServiceDesignator;
      # Messages become HTTP requests to the service.

      fromEnvironment @16 :Text;
      # The value of an environment variable, or null when it is not set.

      analyticsEngine @17 :ServiceDesignator;

      hyperdrive :group {
        designator @18 :ServiceDesignator;
        database @19 :Text;
        user @20 :Text;
        password @21 :Text;
        scheme @22 :Text;
      }

      unsafeEval @23 :Void;
      # An object whose methods compile code from strings.

      memoryCache :group {
        id @24 :Text;
        # Bindings with the same id share one cache.

        limits @25 :MemoryCacheLimits;
      }

      workerLoader :group {
        # Loads Workers from code given at run time.

        id @27 :Text;
        # Bindings with the same id share what they have loaded; without one, a binding keeps to itself.
      }

      workerdDebugPort @28 :Void;
      # Refused by loaderd.
    }

    struct Type {
      # What a parameter may be filled in with.

      union {
        unspecified @0 :Void;
        text @1 :Void;
        data @2 :Void;
        json @3 :Void;
        wasm @4 :Void;
        cryptoKey @5 :List(CryptoKey.Usage);
        service @6 :Void;
        durableObjectNamespace @7 :Void;
        kvNamespace @8 :Void;
        r2Bucket @9 :Void;
        obsolete0 @10 :Void;
        queue @11 :Void;
        analyticsEngine @12 :Void;
        hyperdrive @13 :Void;
        durableObjectClass @14 :Void;
        workerdDebugPort @15 :Void;
      }
    }

    struct DurableObjectNamespaceDesignator {
      className @0 :Text;

      serviceName @1 :Text;
      # The Worker that defines the class; this one when absent.
    }

    struct CryptoKey {
      # The arguments of crypto.subtle.importKey().

      union {
        raw @0 :Data;
        hex @1 :Text;
        base64 @2 :Text;
        pkcs8 @3 :Text;
        spki @4 :Text;
        jwk @5 :Text;
      }

      algorithm :union {
        name @6 :Text;
        json @7 :Text;
      }

      extractable @8 :Bool = false;
      usages @9 :List(Usage);

      enum Usage {
        encrypt @0;
        decrypt @1;
        sign @2;
        verify @3;
        deriveKey @4;
        deriveBits @5;
        wrapKey @6;
        unwrapKey @7;
      }
    }

    struct MemoryCacheLimits {
      # Sizes in bytes.
      maxKeys @0 :UInt32;
      maxValueSize @1 :UInt32;
      maxTotalValueSize @2 :UInt64;
    }

    struct WrappedBinding {
      # A value made by an internal module from bindings that the Worker itself never sees.

      moduleName @0 :Text;

      entrypoint @1 :Text = "default";
      # The exported function; it is called once with the inner bindings and returns the value.

      innerBindings @2 :List(Binding);
    }
  }

  globalOutbound @6 :ServiceDesignator = (name = "internet");
  # Where the global fetch() and connect() go.

  cacheApiOutbound @11 :ServiceDesignator;
  # Where operations on `caches` go, as HTTP requests.

  durableObjectNamespaces @7 :List(DurableObjectNamespace);

  struct DurableObjectNamespace {
    className @0 :Text;

    union {
      uniqueKey @1 :Text;
      # What object ids of this namespace are derived from. Losing it loses the objects.

      ephemeralLocal @2 :Void;
      # No storage, and any string is an id.
    }

    preventEviction @3 :Bool;
    # Keep idle objects in memory.

    enableSql @4 :Bool;
    # Offer `storage.sql`.

    container @5 :ContainerOptions;
    # Refused by loaderd: it drives no container engine.

    struct ContainerOptions {
      imageName @0 :Text;
      privileges @1 :ContainerPrivileges;

      struct ContainerPrivileges {
        capabilities @0 :List(Text);
        devices @1 :List(Device);
        securityOpt @2 :List(Text);

        struct Device {
          pathOnHost @0 :Text;
          pathInContainer @1 :Text;
          cgroupPermissions @2 :Text;
        }
      }
    }
  }

  durableObjectUniqueKeyModifier @8 :Text;
  # Only for Workers that inherit. Refused, as inheritance is.

  durableObjectStorage :union {
    none @9 :Void;
    inMemory @10 :Void;
    # Lost when the process ends.

    localDisk @12 :Text;
    # The name of a writable disk service.
  }

  moduleFallback @13 :Text;
  # A server that is asked for modules that are missing. Refused by loaderd.

  tails @14 :List(ServiceDesignator);
  # Who receives this Worker's trace after each event.

  streamingTails @15 :List(ServiceDesignator);
  # Who receives it while the event runs.

  containerEngine :union {
    none @16 :Void;
    localDocker @17 :DockerConfiguration;
    # Refused by loaderd.
  }

  struct DockerConfiguration {
    socketPath @0 :Text;
    containerEgressInterceptorImage @1 :Text;
  }

  accessBlobHeader @18 :Text;
  accessBindingService @19 :ServiceDesignator;
  # Local stand-ins for Cloudflare Access. Refused by loaderd.
}

struct ExternalServer {
  # One server, whatever host name and scheme a request's URL has.

  address @0 :Text;
  # As a socket's; the command line may give it instead (--external-addr).

  union {
    http @1 :HttpOptions;
    https :group {
      options @2 :HttpOptions;
      tlsOptions @3 :TlsOptions;

      certificateHost @4 :Text;
      # The name that the server's certificate must bear; the address's host when absent.
    }
    tcp :group {
      # Only connect() works; fetch() throws.
      tlsOptions @5 :TlsOptions;
      certificateHost @6 :Text;
    }
  }
}

struct Network {
  # Any server that the rules admit, chosen by the URL's host.

  allow @0 :List(Text) = ["public"];
  deny @1 :List(Text);
  # CIDR blocks, or "private", "public", "local", "network", "unix", "unix-abstract". An address must match one of
  # `allow` and none of `deny`; host names are judged by the addresses they resolve to.

  tlsOptions @2 :TlsOptions;
}

struct DiskDirectory {
  # Files over HTTP: GET and HEAD, and PUT and DELETE where writable; a folder answers with a JSON listing.

  path @0 :Text;
  # Relative to the server's working directory, not to the config file. The command line may give it instead
  # (--directory-path).

  writable @1 :Bool = false;

  allowDotfiles @2 :Bool = false;
  # Whether names that start with a dot exist.
}

struct HttpOptions {
  style @0 :Style = host;

  enum Style {
    host @0;
    # A path in the request line and the host in its header.

    proxy @1;
    # A whole URL in the request line.
  }

  forwardedProtoHeader @1 :Text;
  # A header that carries the client's scheme. Ignored with style `proxy`.

  cfBlobHeader @2 :Text;
  # A header that carries `request.cf` as JSON.

  injectRequestHeaders @3 :List(Header);
  injectResponseHeaders @4 :List(Header);
  # Set on everything that passes; a header without a value is removed.

  struct Header {
    name @0 :Text;
    value @1 :Text;
  }

  capnpConnectHost @5 :Text;
  # A CONNECT request to this host and port opens a Cap'n Proto session, over which JS RPC travels.
}

struct TlsOptions {
  keypair @0 :Keypair;
  # Required on a server, optional on a client.

  struct Keypair {
    privateKey @0 :Text;
    certificateChain @1 :Text;
    # PEM, the leaf certificate first.
  }

  requireClientCerts @1 :Bool = false;
  # Of a server: refuse clients without a certificate of a trusted authority.

  trustBrowserCas @2 :Bool = false;
  trustedCertificates @3 :List(Text);
  # Whom to trust: the public authorities, and these (PEM).

  minVersion @4 :Version = goodDefault;

  enum Version {
    goodDefault @0;
    ssl3 @1;
    tls1Dot0 @2;
    tls1Dot1 @3;
    tls1Dot2 @4;
    tls1Dot3 @5;
  }

  cipherList @5 :Text;
  # OpenSSL's notation. Refused by loaderd, whose TLS library chooses.
}

struct Extension {
  modules @0 :List(Module);

  struct Module {
    name @0 :Text;
    # A whole specifier, for example "my-extension:module".

    internal @1 :Bool = false;
    # Only other extension modules may import it.

    esModule @2 :Text;
  }
}

struct FallbackServiceRequest {
  # The JSON form of a question to a `moduleFallback` server.

  type @0 :Text;
  specifier @1 :Text;
  rawSpecifier @2 :Text;
  referrer @3 :Text;

  struct Attribute {
    name @0 :Text;
    value @1 :Text;
  }
  attributes @4 :List(Attribute);
}
