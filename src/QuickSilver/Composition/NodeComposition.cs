using System.Net;
using System.Net.Sockets;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Requests;

namespace QuickSilver.Composition;

// The only place that puts the machine's parts together.
internal static class NodeComposition
{
    public static INodeParts ForMachine(QuickSilverOptions options, ILoggerFactory logs) => new MachineParts(options, logs);

    /// <summary>The address of "host:port"; the first IPv4 address where the host has several.</summary>
    public static IPEndPoint Resolve(string hostAndPort)
    {
        int colon = hostAndPort.LastIndexOf(':');
        string host = hostAndPort[..colon];
        int port = int.Parse(hostAndPort.AsSpan(colon + 1), System.Globalization.CultureInfo.InvariantCulture);
        if (IPAddress.TryParse(host, out var address))
        {
            return new IPEndPoint(address, port);
        }

        try
        {
            return new IPEndPoint(Dns.GetHostAddresses(host, AddressFamily.InterNetwork)[0], port);
        }
        catch (Exception exception) when (exception is SocketException or IndexOutOfRangeException)
        {
            throw new IOException($"The membership service's host '{host}' has no IPv4 address: {exception.Message}", exception);
        }
    }

    private sealed class MachineParts : ProtocolParts
    {
        private readonly MachineEnvironment _environment;

        public MachineParts(QuickSilverOptions options, ILoggerFactory logs)
            : base(options, options.MembershipService is { } service ? Resolve(service) : null, logs)
        {
            var machine = new MachineEnvironmentOptions
            {
                Name = $"QuickSilver {options.Cluster}",
                LocalAddress = options.Interface,
                BufferBytes = options.BufferBytes,
                SegmentationOffload = options.SegmentationOffload,
            };
            _environment = MachineEnvironment.Start(machine, logs);
        }

        public override INodeEnvironment Environment => _environment;

        public override TimeProvider OutsideTime => TimeProvider.System;

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
