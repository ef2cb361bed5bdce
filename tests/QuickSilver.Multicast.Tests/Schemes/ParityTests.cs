using System.Buffers.Binary;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Repair;
using QuickSilver.Multicast.Schemes;
using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Simulation;

namespace QuickSilver.Multicast.Tests.Schemes;

// A scheme as simple as can be that heals whole views, above pulls: after every few packets, each member sends their sum to the next one.
public sealed class ParityTests : SchemeContract
{
    private const ulong Topic = 1;

    internal override MulticastOptions Options => OptionsOf(new Parity());

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Most_losses_are_healed_before_they_are_asked_for(bool isSealed)
    {
        var parity = new Parity();
        var cluster = Running(parity, loss: 0.02, isSealed: isSealed);
        cluster[0].PublishAll(Topic, 3_000, 600);
        Assert.True(cluster.RunUntil(() => cluster.Hosts.Skip(1).All(host => host.Log.Count == 3_000)));
        long healed = cluster.Hosts.Sum(static host => host.Multicast.Counters.PacketsHealed);
        long asked = cluster.Hosts.Sum(static host => host.Multicast.Counters.PullsSent);
        Assert.True(healed > asked, $"{healed} packets were healed, and {asked} requests sent");
        Assert.True(parity.Missed >= healed, $"{healed} packets were healed of {parity.Missed} that were found missing");
        Assert.All(cluster.Hosts.Skip(1), host => MulticastCluster.AssertRun(host, cluster[0], Topic, 1, 3_000));
    }

    [Fact]
    public void Packets_that_were_healed_share_blocks_which_are_given_back()
    {
        Assert.Equal(LeasedAfter(new Parity { IsSilent = true }), LeasedAfter(new Parity()));

        static long LeasedAfter(Parity parity)
        {
            var cluster = Running(parity, loss: 0.02);
            cluster[0].PublishAll(Topic, 3_000, 600);
            Assert.True(cluster.RunUntil(() => cluster.Hosts.Skip(1).All(host => host.Log.Count == 3_000)));
            cluster.Simulation.Run(TimeSpan.FromSeconds(5));
            Assert.Equal(!parity.IsSilent, cluster.Hosts.Any(static host => host.Multicast.Counters.PacketsHealed > 0));
            foreach (var host in cluster.Hosts)
            {
                host.Multicast.Close();
            }

            return cluster.Hosts.Sum(static host => host.Node.Environment.Buffers.LeasedBlocks);
        }
    }

    [Fact]
    public void A_best_effort_topic_loses_less_with_it()
    {
        long without = LostWith(new Parity { IsSilent = true });
        long with = LostWith(new Parity());
        Assert.True(without > 50, $"{without} lost without");
        Assert.True(with < without / 2, $"{with} lost with it, {without} without");
    }

    [Fact]
    public void A_member_sees_each_packet_once_and_as_all_others_do_shared_ones_too()
    {
        var parity = new Parity();
        var cluster = Running(parity, loss: 0.05);
        for (int i = 1; i < 5; i++)
        {
            // Two members in each of two regions.
            cluster[i].Subscribes(10 + ((ulong)i / 3));
        }

        cluster.Service.GiveAddress(Topic);
        cluster.Commit();
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(50));
        cluster[0].PublishAll(Topic, 100, 600);
        Assert.True(cluster.RunUntil(() => cluster.Hosts.Skip(1).All(host => host.Log.Count == 100)));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(50));
        cluster[0].PublishAll(Topic, 1_000, 600);
        Assert.True(cluster.RunUntil(() => cluster.Hosts.Skip(1).All(host => host.Log.Count == 1_100)));
        Assert.True(cluster[0].Multicast.Counters.SharedPacketsSent > 100);
        Assert.All(parity.Seen.Values, static seen => Assert.Single(seen.Distinct()));
        Assert.All(parity.Seen.Values, static seen => Assert.Equal(2, seen.Count));
    }

    [Fact]
    public void A_sum_that_is_wrong_heals_nothing()
    {
        var parity = new Parity { Lies = true };
        var cluster = Running(parity, loss: 0.02);
        cluster[0].PublishAll(Topic, 2_000, 600);
        Assert.True(cluster.RunUntil(() => cluster.Hosts.Skip(1).All(host => host.Log.Count == 2_000)));
        Assert.Equal(0, cluster.Hosts.Sum(static host => host.Multicast.Counters.PacketsHealed));
        Assert.All(cluster.Hosts.Skip(1), host => MulticastCluster.AssertRun(host, cluster[0], Topic, 1, 2_000));
    }

    private static MulticastOptions OptionsOf(Parity parity) =>
        new() { ClusterId = 7, Repair = new LayeredRepair(parity, PeerPullRepair.Scheme) };

    private static MulticastCluster Running(Parity parity, double loss, bool isReliable = true, bool isSealed = false)
    {
        var cluster = new MulticastCluster(3, 5, new LinkModel { Loss = loss }, OptionsOf(parity) with { IsSealed = isSealed });
        cluster[0].Publishes(Topic, isReliable);
        foreach (var host in cluster.Hosts.Skip(1))
        {
            host.Subscribes(Topic, isReliable);
        }

        cluster.Commit();
        return cluster;
    }

    private static long LostWith(Parity parity)
    {
        var cluster = Running(parity, loss: 0.05, isReliable: false);
        cluster[0].PublishAll(Topic, 2_000, 600);
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        return cluster.Hosts.Skip(1).Sum(static host => 2_000L - host.Log.Count);
    }

    // What all members of a test have seen, by packet, and one part for each view.
    private sealed class Parity : IRepairScheme
    {
        public const PacketKind Kind = PacketKinds.FirstRepair;

        public bool IsSilent { get; init; }

        public bool Lies { get; init; }

        public long Missed { get; set; }

        public Dictionary<(ulong Region, uint View, StreamKey, long), List<uint>> Seen { get; } = [];

        public IReadOnlyList<PacketKind> Kinds => [Kind];

        public TimeSpan Patience => IsSilent ? TimeSpan.Zero : TimeSpan.FromMilliseconds(15);

        public IRegionRepair ForRegion(SchemeContext context, IHealedView view) => new Part(this, context, view);

        public IRepairStrategy ForReceiver(SchemeContext context, IViewOfMember view, IRepairedStream stream) =>
            throw new NotSupportedException("the scheme below does that");
    }

    // A sum has a body of: u8 count; of each packet u64, u32, u8 and i64 for its stream and number; the XOR of the lengths and the
    // checksums of the packets; the XOR of the packets from an offset on, which is 0 in the first of its two halves.
    private sealed class Part(Parity parity, SchemeContext context, IHealedView view) : IRegionRepair
    {
        private const int Summed = 4;
        private const int MostKept = 1_024;
        private const int IdBytes = 21;

        private readonly List<(StreamKey Stream, long Number, byte[] Packet)> _kept = [];
        private readonly List<Sum> _sums = [];
        private long _accepted;

        public void OnAccepted(IStreamOfMember stream, long number, ReadOnlySpan<byte> packet)
        {
            byte[] copy = packet.ToArray();
            Normalize(copy);
            var key = (view.View.RegionId, view.View.Number, stream.Key, number);
            parity.Seen.TryAdd(key, []);
            parity.Seen[key].Add(Host.Hash(copy));
            _kept.Add((stream.Key, number, copy));
            if (_kept.Count > MostKept)
            {
                _kept.RemoveAt(0);
            }

            if (++_accepted % Summed == 0 && !parity.IsSilent)
            {
                Send();
            }

            // Not within the call: healing accepts packets.
            context.Node.Environment.Post(new Core.Requests.ActionRequest(Retry));
        }

        public void OnMissed(IStreamOfMember stream, long first, long last) => parity.Missed += last - first + 1;

        public DropReason OnPacket(in PacketHeader header, NodeKey from)
        {
            if (Sum.TryRead(header.Body) is not { } sum)
            {
                return DropReason.Malformed;
            }

            if (_sums.Find(one => one.Ids.SequenceEqual(sum.Ids)) is { } half)
            {
                half.Take(sum);
            }
            else
            {
                _sums.Add(sum);
            }

            if (_sums.Count > MostKept)
            {
                _sums.RemoveAt(0);
            }

            Retry();
            return DropReason.None;
        }

        public void Close() => _sums.Clear();

        private static void Normalize(Span<byte> packet)
        {
            var flags = (PacketFlags)BinaryPrimitives.ReadUInt16LittleEndian(packet[PacketHeader.FlagsOffset..]);
            flags &= ~(PacketFlags.Repair | PacketFlags.Shared);
            BinaryPrimitives.WriteUInt16LittleEndian(packet[PacketHeader.FlagsOffset..], (ushort)flags);
            packet.Slice(PacketHeader.ChecksumOffset, sizeof(uint)).Clear();
        }

        private void Send()
        {
            var last = _kept.TakeLast(Summed).ToArray();
            int rank = Enumerable.Range(1, view.Live.Ranks - 1).Select(step => (view.SelfRank + step) % view.Live.Ranks)
                .FirstOrDefault(view.Live.IsLive, -1);
            if (rank < 0 || context.Node.Directory.Find(view.Live[rank]) is not { } to)
            {
                return;
            }

            byte[] bytes = new byte[last.Max(static one => one.Packet.Length)];
            var (lengths, checksums) = (0, 0u);
            foreach (var (_, _, packet) in last)
            {
                Add(bytes, packet);
                lengths ^= packet.Length;
                checksums ^= Host.Hash(packet);
            }

            bytes[PacketHeader.Bytes] ^= (byte)(parity.Lies ? 1 : 0);
            int half = bytes.Length / 2;
            foreach (var (offset, part) in new[] { (0, bytes[..half]), (half, bytes[half..]) })
            {
                byte[] packet = new byte[PacketHeader.Bytes + 1 + (Summed * IdBytes) + 10 + part.Length];
                view.Template.Write(packet, Parity.Kind, PacketFlags.None, 0, 0, 0);
                Sum.Write(packet.AsSpan(PacketHeader.Bytes), last, lengths, checksums, offset, part);
                PacketTemplate.Seal(packet);
                context.Node.SendControl(packet, to);
            }
        }

        private void Retry()
        {
            for (int i = _sums.Count - 1; i >= 0; i--)
            {
                if (_sums[i].IsWhole && TryHeal(_sums[i]))
                {
                    _sums.RemoveAt(i);
                    i = Math.Min(i, _sums.Count);
                }
            }
        }

        // True: the sum is of no more use.
        private bool TryHeal(Sum sum)
        {
            var missing = sum.Ids.Where(id => view.IsWanted(id.Stream, id.Number)).ToArray();
            if (missing is not [var wanted])
            {
                return missing.Length == 0;
            }

            byte[] bytes = [.. sum.Bytes];
            var (length, checksum) = (sum.Lengths, sum.Checksums);
            foreach (var id in sum.Ids.Where(id => id != wanted))
            {
                if (_kept.Find(one => one.Stream == id.Stream && one.Number == id.Number).Packet is not { } packet
                    || packet.Length > bytes.Length)
                {
                    return true;
                }

                Add(bytes, packet);
                length ^= packet.Length;
                checksum ^= Host.Hash(packet);
            }

            if (length <= bytes.Length && length >= PacketHeader.Bytes && Host.Hash(bytes.AsSpan(0, length)) == checksum)
            {
                view.Heal(bytes.AsSpan(0, length));
            }

            return true;
        }

        private static void Add(Span<byte> sum, ReadOnlySpan<byte> packet)
        {
            for (int i = 0; i < packet.Length; i++)
            {
                sum[i] ^= packet[i];
            }
        }
    }

    private sealed class Sum
    {
        private const int IdBytes = 21;
        private int _bytesOfOther = -1;

        public required (StreamKey Stream, long Number)[] Ids { get; init; }

        public required int Lengths { get; init; }

        public required uint Checksums { get; init; }

        public required byte[] Bytes { get; set; }

        public required int Offset { get; init; }

        public bool IsWhole => _bytesOfOther >= 0;

        public void Take(Sum half)
        {
            if (half.Offset != Offset)
            {
                Bytes = Offset == 0 ? [.. Bytes, .. half.Bytes] : [.. half.Bytes, .. Bytes];
                _bytesOfOther = half.Bytes.Length;
            }
        }

        public static void Write(
            Span<byte> to, (StreamKey Stream, long Number, byte[] Packet)[] of, int lengths, uint checksums, int offset, byte[] part)
        {
            to[0] = (byte)of.Length;
            int at = 1;
            foreach (var (stream, number, _) in of)
            {
                BinaryPrimitives.WriteUInt64LittleEndian(to[at..], stream.Sender.Id);
                BinaryPrimitives.WriteUInt32LittleEndian(to[(at + 8)..], stream.Sender.Incarnation);
                to[at + 12] = stream.Class.Value;
                BinaryPrimitives.WriteInt64LittleEndian(to[(at + 13)..], number);
                at += IdBytes;
            }

            BinaryPrimitives.WriteUInt16LittleEndian(to[at..], (ushort)lengths);
            BinaryPrimitives.WriteUInt32LittleEndian(to[(at + 2)..], checksums);
            BinaryPrimitives.WriteInt32LittleEndian(to[(at + 6)..], offset);
            part.CopyTo(to[(at + 10)..]);
        }

        public static Sum? TryRead(ReadOnlySpan<byte> body)
        {
            int count = body.Length > 0 ? body[0] : 0;
            int at = 1 + (count * IdBytes);
            if (count == 0 || body.Length < at + 10)
            {
                return null;
            }

            var ids = new (StreamKey, long)[count];
            for (int i = 0; i < count; i++)
            {
                var id = body[(1 + (i * IdBytes))..];
                var sender = new NodeKey(
                    BinaryPrimitives.ReadUInt64LittleEndian(id), BinaryPrimitives.ReadUInt32LittleEndian(id[8..]));
                ids[i] = (new StreamKey(sender, new StreamClass(id[12])), BinaryPrimitives.ReadInt64LittleEndian(id[13..]));
            }

            return new Sum
            {
                Ids = ids,
                Lengths = BinaryPrimitives.ReadUInt16LittleEndian(body[at..]),
                Checksums = BinaryPrimitives.ReadUInt32LittleEndian(body[(at + 2)..]),
                Offset = BinaryPrimitives.ReadInt32LittleEndian(body[(at + 6)..]),
                Bytes = body[(at + 10)..].ToArray(),
            };
        }
    }
}
