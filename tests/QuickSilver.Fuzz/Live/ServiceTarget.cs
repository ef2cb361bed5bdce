using System.Net;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Fuzz.Control;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Service.Sessions;
using QuickSilver.Membership.Service.Stores;
using QuickSilver.Simulation;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Fuzz.Live;

// A membership service with a member of good will, and what another client says to it. Each part of the input is sent on a stream: the
// first byte says on which of two and whether a valid join comes first, the second is the kind of a frame around the bytes, or 0 for bytes
// without one. No step of the service may throw, and the member stays.
internal sealed class ServiceTarget : FuzzTarget
{
    private const int MostParts = 64;
    private const int MostEventsPerInstant = 200_000;

    private static readonly IPEndPoint Any = new(IPAddress.Any, 7400);
    private static readonly TimeSpan Between = TimeSpan.FromMilliseconds(2);
    private static readonly TimeSpan After = TimeSpan.FromSeconds(1);

    public override string Name => "service";

    public override IReadOnlyList<Type> Decoders { get; } =
        [typeof(MembershipService), typeof(ControlSession), typeof(SessionRegistration)];

    // The service and its machines from their start, and what a frame makes them do.
    public override long AllocationLimit(ReadOnlySpan<byte> input) => (32 << 20) + (1024L * input.Length);

    public override IEnumerable<Seed> Seeds()
    {
        foreach (var seed in ControlSeeds.All().Where(static seed => seed.Bytes[0] is > 0 and <= ControlMessageKind.FollowTopics))
        {
            yield return new Seed(seed.Name, InputParts.Write((1, seed.Bytes[0], seed.Bytes[1..]), (1, seed.Bytes[0], seed.Bytes[1..])));
            yield return new Seed($"{seed.Name}-unjoined", InputParts.Write((0, seed.Bytes[0], seed.Bytes[1..])));
        }

        byte[] frames = ControlSeeds.Frames(ControlSeeds.SetTopic("flights"), KnownMessage.Heartbeat(1), SignalMessage.Leave);
        yield return new Seed("frames", InputParts.Write((1, 0, frames[..40]), (1, 0, frames[40..]), (3, 0, frames)));
    }

    public override void Run(ReadOnlySpan<byte> input)
    {
        var machines = new SimulatedMachines(new SimulationOptions { Seed = 1 });
        machines.Time.MostEventsPerInstant = MostEventsPerInstant;
        var host = machines.AddNode();
        var counters = new ServiceCounters();
        using var service = new MembershipService(
            host.Environment, new MembershipServiceOptions(), new MemoryMembershipStore(), counters, NullLogger.Instance);
        service.Start(Any);
        var at = new IPEndPoint(host.Address, Any.Port);
        var member = new FrameClient(machines.AddNode(), at);
        member.Join(50);
        member.SendFrames(ControlSeeds.Frames(ControlSeeds.SetTopic("flights")));
        FrameClient[] clients = [new FrameClient(machines.AddNode(), at), new FrameClient(machines.AddNode(), at)];
        machines.Run(After);
        bool wasMember = !member.IsClosed;
        var parts = new InputParts(input);
        for (int i = 0; i < MostParts && parts.MoveNext(); i++)
        {
            var client = clients[(parts.First >> 1) & 1];
            if ((parts.First & 1) != 0)
            {
                client.JoinOnce(60 + (ulong)((parts.First >> 1) & 1));
            }

            client.Send(parts.Second, parts.Bytes);
            machines.Run(Between);
        }

        machines.Run(After);
        FindingException.ThrowUnless(wasMember && !member.IsClosed, "A member was sent away for what another client said.");
        FindingException.ThrowUnless(service.MemberCount <= 3, $"Three clients became {service.MemberCount} members.");
    }
}
