using System.Collections.Immutable;
using System.Net;
using System.Net.Sockets;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Background;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Client.Servers;
using QuickSilver.Membership.Protocol.Replies;

namespace QuickSilver.Composition;

// The only place that composes the parts of a machine.
internal static class NodeComposition
{
    /// <param name="options">The options, already validated.</param>
    /// <param name="logs">The caller's logger factory.</param>
    /// <param name="cancellationToken">Cancels the resolution of the service's name.</param>
    /// <param name="configurations">What the nodes of the cluster in this process share; null: the node shares nothing.</param>
    /// <param name="lookup">How the addresses of a host are found; null: as the system does.</param>
    public static async Task<INodeParts> ForMachineAsync(
        QuickSilverOptions options,
        ILoggerFactory logs,
        CancellationToken cancellationToken,
        ConfigurationCache? configurations = null,
        HostLookup? lookup = null)
    {
        var membership = options.Membership;
        var names = membership.HasServers ? new ServerNames(membership.Servers, options.Interface.Family, lookup) : null;
        var services = names is null ? [] : await names.ResolveAsync(cancellationToken).ConfigureAwait(false);
        var choice = Choose(options.Interface, services);
        LoopbackRule.Check(options.Security, choice);
        var credentials = SecurityComposition.CredentialsOfNode(options, logs);
        CheckDiscovery(options, choice.Address);
        var setup = new ProtocolSetup { Credentials = credentials, Logs = logs, Ephemeral = EphemeralPorts.Read() };
        var protocols = ProtocolOptions.Of(OnWire(options, choice.Address), setup);
        return new MachineParts(protocols, choice, services, names, configurations ?? new ConfigurationCache(), logs);
    }

    /// <summary>
    /// The options with the size of packets that a node uses: the default fits an MTU of 1,500 over IPv4, and the header of IPv6 is larger.
    /// </summary>
    /// <param name="options">As they are given.</param>
    /// <param name="local">The address of the interface.</param>
    public static QuickSilverOptions OnWire(QuickSilverOptions options, IPAddress local) =>
        local.AddressFamily == AddressFamily.InterNetworkV6 && options.PacketBytes == QuickSilverOptions.DefaultPacketBytes
            ? options.Copy(static copy => copy.PacketBytes = QuickSilverOptions.DefaultPacketBytesV6)
            : options;

    // A node that may host answers at this port. If another program has it, no node would find this one, now or after the present service.
    // A node that hosts binds the port again, when it begins to: most nodes of a cluster never do, and each that kept the port bound would
    // get every question. If another program takes the port in between, the node's status says so (Trouble of its host).
    private static void CheckDiscovery(QuickSilverOptions options, IPAddress local)
    {
        int port = options.DiscoveryPort;
        if (options.Membership is { HasServers: false, Mode: not MembershipMode.Find }
            && PortHolder.IsBusy(local, new DiscoveryOptions().GroupOf(local), port))
        {
            throw new PortInUseException(port, PortHolder.Of(port));
        }
    }

    /// <summary>The interface for an option, on this machine.</summary>
    /// <exception cref="QuickSilverOptionsException">No interface fits, several do, or it does not reach the service.</exception>
    public static InterfaceChoice Choose(NodeInterface wanted, ImmutableArray<IPEndPoint> services)
    {
        var towards = wanted.IsAuto && !services.IsEmpty ? LocalRoute.SourceFor(services[0]) : null;
        var choice = InterfaceChoice.Of(
            wanted, LocalInterfaces.Read(), towards, services.IsEmpty ? null : services[0].AddressFamily);
        foreach (var service in services)
        {
            LocalInterfaces.CheckReach(choice.Address, service);
        }

        return choice;
    }

    /// <summary>
    /// The addresses of the servers of a service, which are named by host and port, with commas between them: all addresses of each host
    /// of one kind. Servers whose names cannot be resolved are left out, unless that leaves none.
    /// </summary>
    /// <param name="servers">The option.</param>
    /// <param name="family">Which addresses; null: those of IPv4, or of IPv6 if the first host has only such.</param>
    /// <param name="cancellationToken">Cancels the resolution.</param>
    public static Task<ImmutableArray<IPEndPoint>> ResolveAsync(
        IEnumerable<string> servers, AddressFamily? family, CancellationToken cancellationToken) =>
        new ServerNames(servers, family).ResolveAsync(cancellationToken);

    private sealed class MachineParts : ProtocolParts
    {
        // The end of a node takes about a second, unless the pool is blocked. Then it continues when the pool does.
        private static readonly TimeSpan EndOfStartLimit = TimeSpan.FromSeconds(3);

        private readonly MachineEnvironment _environment;
        private readonly InterfaceChoice _interface;
        // Null: no server is named, or each by its address.
        private readonly ServerNames? _names;

        public MachineParts(
            ProtocolOptions protocols,
            InterfaceChoice choice,
            ImmutableArray<IPEndPoint> services,
            ServerNames? names,
            ConfigurationCache configurations,
            ILoggerFactory logs)
            : base(protocols, services, configurations, logs)
        {
            var options = protocols.Node;
            _interface = choice;
            _names = names is { HasNames: true } ? names : null;
            var machine = new MachineEnvironmentOptions
            {
                Name = $"QuickSilver {options.Cluster}",
                LocalAddress = choice.Address,
                BufferBytes = options.Limits.BufferBytes,
                SegmentationOffload = options.SegmentationOffload,
                Spin = options.BusyPoll,
                MulticastTimeToLive = options.MulticastTimeToLive,
                Credentials = protocols.Credentials,
                WatchesThreadPool = true,
                StorageDirectory = options.StorageDirectory,
            };
            _environment = MachineStart.Of(machine, logs);
        }

        public override INodeEnvironment Environment => _environment;

        public override string? Interface => _interface.ToString();

        protected override CoreCounters CoreCounters => _environment.Counters;

        protected override ServerResolution? Resolution => _names is null ? null : Resolve;

        protected override Trouble? PoolTrouble => _environment.PoolTrouble;

        public override long PoolStarvations => _environment.PoolStarvations;

        public override TimeProvider OutsideTime => TimeProvider.System;

        public override TimeProvider WatchTime => ThreadedTime.Instance;

        public override Task EndStartAsync(Func<Task> end) =>
            Detached.RunOnThread("QuickSilver end", () => end().Wait(EndOfStartLimit));

        // A name server may take seconds, and the core thread waits for none.
        private void Resolve(Action<ImmutableArray<IPEndPoint>> completed) => Detached.Begin(async () =>
        {
            ImmutableArray<IPEndPoint> found = [];
            try
            {
                found = await _names!.ResolveAsync(CancellationToken.None).ConfigureAwait(false);
            }
            catch (MembershipUnreachableException)
            {
                // The node continues with the addresses that it has, and says why these do not take it in.
            }
            finally
            {
                _environment.Post(new ActionRequest(() => completed(found.RemoveAll(IsOutOfReach))));
            }
        });

        private bool IsOutOfReach(IPEndPoint service)
        {
            try
            {
                LocalInterfaces.CheckReach(_interface.Address, service);
                return false;
            }
            catch (QuickSilverOptionsException)
            {
                return true;
            }
        }

        public override async Task StopAsync()
        {
            var closed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            _environment.Post(new ActionRequest(() =>
            {
                try
                {
                    Close();
                }
                finally
                {
                    closed.TrySetResult();
                }
            }));
            await closed.Task.ConfigureAwait(false);
            _environment.Dispose();
        }
    }
}
