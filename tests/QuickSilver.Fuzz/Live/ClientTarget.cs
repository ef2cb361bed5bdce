using System.Net;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Composition;
using QuickSilver.Core.Transport;
using QuickSilver.Fuzz.Control;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast;
using QuickSilver.Simulation;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Fuzz.Live;

// A node up to its multicast layer, and what a service says to it. Each part of the input is said on the stream: the first byte says
// whether a valid welcome and a valid configuration come first, the second is the kind of a frame around the bytes, or 0 for bytes
// without one. No step of the node may throw.
internal sealed class ClientTarget : FuzzTarget
{
    private const int MostParts = 64;
    private const int MostEventsPerInstant = 200_000;

    private static readonly IPEndPoint Any = new(IPAddress.Any, 7400);
    private static readonly TimeSpan Between = TimeSpan.FromMilliseconds(2);
    private static readonly TimeSpan After = TimeSpan.FromSeconds(1);
    private static readonly ProtocolOptions Options = ProtocolOptions.Of(new QuickSilverOptions());

    public override string Name => "client";

    public override IReadOnlyList<Type> Decoders { get; } = [typeof(ServiceMessages), typeof(ServiceLink)];

    // The node and its machines from their start, and what a frame makes them do.
    public override long AllocationLimit(ReadOnlySpan<byte> input) => (32 << 20) + (1024L * input.Length);

    public override IEnumerable<Seed> Seeds()
    {
        foreach (var seed in ControlSeeds.All().Where(static seed => seed.Bytes[0] > ControlMessageKind.FollowTopics))
        {
            yield return new Seed(seed.Name, InputParts.Write((1, seed.Bytes[0], seed.Bytes[1..])));
            yield return new Seed($"{seed.Name}-unwelcome", InputParts.Write((0, seed.Bytes[0], seed.Bytes[1..])));
        }

        byte[] next = ConfigurationTarget.Frames(maxPartBytes: 60, number: 6, isSnapshot: false);
        yield return new Seed("parts", InputParts.Write((1, 0, next[..100]), (1, 0, next[100..])));
    }

    public override void Run(ReadOnlySpan<byte> input)
    {
        var machines = new SimulatedMachines(new SimulationOptions { Seed = 1 });
        machines.Time.MostEventsPerInstant = MostEventsPerInstant;
        var host = machines.AddNode();
        var service = new FrameService();
        using var listener = host.Environment.Listen(Any, service);
        var node = machines.AddNode();
        MembershipClient? client = null;
        var multicast = new MulticastNode(node.Environment, Options.Multicast, (below, address) => client = new MembershipClient(
            node.Environment,
            new MembershipClientOptions
            {
                Self = new NodeKey(7, 1),
                EndPoint = address.EndPoint,
                Services = [new IPEndPoint(host.Address, Any.Port)],
                Hosted = Options.Service,
            },
            below,
            new ConfigurationCache(),
            NullLogger.Instance));
        client!.Open(ControlSeeds.SetTopic("flights").Topic, static _ => { });
        client.Start();
        machines.Run(Between * 10);
        var parts = new InputParts(input);
        for (int i = 0; i < MostParts && parts.MoveNext(); i++)
        {
            if ((parts.First & 1) != 0)
            {
                service.WelcomeOnce();
            }

            service.Say(parts.Second, parts.Bytes);
            machines.Run(Between);
        }

        machines.Run(After);
        FindingException.ThrowUnless(multicast.OutboundStreams == 0, "A node sends what was never published.");
    }

    // A service that sends what the target gives it.
    private sealed class FrameService : IControlAcceptor, IControlStreamHandler
    {
        private IControlStream? _stream;
        private bool _hasWelcomed;

        public IControlStreamHandler OnAccept(IControlStream stream)
        {
            _stream = stream;
            _hasWelcomed = false;
            return this;
        }

        public void WelcomeOnce()
        {
            if (!_hasWelcomed && _stream is { } stream)
            {
                _hasWelcomed = true;
                stream.Send(ControlSeeds.Frames(
                    new WelcomeMessage(9, false, TimeSpan.FromMilliseconds(500), 6), new TopicOutcomeMessage(1, "")));
                stream.Send(ConfigurationTarget.Frames(maxPartBytes: 4096));
            }
        }

        public void Say(byte kind, ReadOnlySpan<byte> bytes)
        {
            if (kind == 0)
            {
                _stream?.Send(bytes);
            }
            else
            {
                _stream?.Send(FrameClient.Framed(kind, bytes));
            }
        }

        public void OnConnected(IControlStream stream)
        {
        }

        public int OnBytes(IControlStream stream, ReadOnlySpan<byte> bytes) => bytes.Length;

        public void OnClosed(IControlStream stream, string reason) => _stream = _stream == stream ? null : _stream;
    }
}
