using System.Net;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Views;

namespace QuickSilver.Fuzz.Control;

// The parts of configurations, as frames, put together as a node does. What was read is written and read again.
internal sealed class ConfigurationTarget : FuzzTarget
{
    public override string Name => "configurations";

    public override IReadOnlyList<Type> Decoders { get; } =
        [typeof(ConfigurationMessage), typeof(ConfigurationCache), typeof(ConfigurationAssembler)];

    // Each part is read three times.
    public override long AllocationLimit(ReadOnlySpan<byte> input) =>
        FreeBytes + FrameStream.AllocationLimit(input) + (256L * input.Length);

    public override IEnumerable<Seed> Seeds()
    {
        yield return new Seed("one", Frames(maxPartBytes: 4096));
        yield return new Seed("parts", Frames(maxPartBytes: 60));
    }

    /// <summary>The bodies of a configuration in one part.</summary>
    public static byte[][] Parts() => [.. Cut(Frames(maxPartBytes: 4096))];

    /// <summary>A configuration with all that it can have.</summary>
    public static byte[] Frames(int maxPartBytes, long number = 5, bool isSnapshot = true)
    {
        var frames = new ControlBuffer();
        var writer = new ConfigurationWriter(frames, maxPartBytes);
        writer.Begin(new ConfigurationHeader(number, number - 1, isSnapshot, LastRequest: 1));
        NodeKey[] members = [new(7, 1), new(8, 1)];
        foreach (var member in members)
        {
            writer.Add(new NodeInfo(member, new IPEndPoint(new IPAddress([10, 0, 0, (byte)member.Id]), 5000), 1, 2, new Origin(3, 4)));
        }

        writer.Add(new NodeKey(6, 1));
        writer.Add(new RegionView
        {
            RegionId = 0x10,
            Number = 1,
            Configuration = number,
            Group = new IPEndPoint(new IPAddress([239, 192, 0, 1]), 6000),
            Members = [.. members],
            Repair = new RepairRules { Replicas = 3, RingSize = 4 },
            Since = [1, 2],
        });
        writer.Add(new TopicView
        {
            TopicId = TopicId.Of("flights"),
            Configuration = number,
            Regions = [0x10],
            Subscribed = true,
            Routed = true,
            Subscribers = 2,
            Address = new TopicAddress(new IPEndPoint(new IPAddress([239, 192, 0, 2]), 6000), 1),
        });
        writer.AddOutOfSight(0x20);
        writer.End(isLast: true);
        return frames.Written.ToArray();
    }

    public static void ReadPart(ReadOnlySpan<byte> body)
    {
        if (!ControlFrame.TryRead<ConfigurationMessage>(body, out var part, out _))
        {
            return;
        }

        byte[] once = Write(part);
        foreach (byte[] again in Cut(once))
        {
            FindingException.ThrowUnless(
                Write(ConfigurationMessage.Read(again)).AsSpan().SequenceEqual(once), "A configuration is not what was written.");
        }
    }

    public override void Run(ReadOnlySpan<byte> input)
    {
        var assembler = new ConfigurationAssembler();
        var cache = new ConfigurationCache();
        for (var frames = new FrameStream(input); frames.MoveNext();)
        {
            ReadPart(frames.Body);
            if (ControlFrame.TryRead(frames.Body, cache, static (bytes, read) => read.Read(bytes), out var part, out _)
                && assembler.TryAdd(part, out var whole) && whole is not null)
            {
                _ = ConfigurationAssembler.ToChange(whole, 1, whole.Content.Topics);
            }
        }
    }

    private static byte[] Write(ConfigurationMessage part)
    {
        var frames = new ControlBuffer();
        var writer = new ConfigurationWriter(frames, maxPartBytes: int.MaxValue);
        writer.Begin(new ConfigurationHeader(part.Number, part.Previous, part.IsSnapshot, part.LastRequest));
        foreach (var joined in part.Content.Joined)
        {
            writer.Add(joined);
        }

        foreach (var removed in part.Content.Removed)
        {
            writer.Add(removed);
        }

        foreach (var region in part.Content.Regions)
        {
            writer.Add(region);
        }

        foreach (var topic in part.Content.Topics)
        {
            writer.Add(topic);
        }

        foreach (ulong region in part.Content.OutOfSight)
        {
            writer.AddOutOfSight(region);
        }

        writer.End(part.IsLast);
        return frames.Written.ToArray();
    }

    private static List<byte[]> Cut(ReadOnlySpan<byte> bytes)
    {
        var bodies = new List<byte[]>();
        for (var frames = new FrameStream(bytes); frames.MoveNext();)
        {
            bodies.Add(frames.Body.ToArray());
        }

        return bodies;
    }
}
