using System.Buffers.Binary;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Sending.Packing;

namespace QuickSilver.Microbenchmarks.DataPath;

// Sealed packets of one stream as they lie in receive blocks, made by the real packer: messages of one size, back to back and
// over the packets' borders. Renumbered they are the stream's continuation.
internal sealed class PacketRuns
{
    private const int PacketBytes = 1472;
    private const int PacketsPerRun = SlabPool.BlockBytes / PacketBytes;

    private readonly List<(Lease Lease, int Offset, int Length)> _packets = [];
    private readonly List<(Lease Lease, int Offset)> _messages = [];

    public PacketRuns(BareParts parts, ulong topicId, int runs, int messageBytes)
    {
        var template = new PacketTemplate(
            BareParts.ClusterId, parts.Peer.Id, parts.Peer.Incarnation, parts.Region.RegionId, parts.Region.Number);
        var retention = new RetentionBuffer(new RetentionBudget(long.MaxValue / 2));
        var packer = new Packer(parts.Core.Buffers, template, PacketBytes, retention);
        var table = new StartTable();
        table.Add(parts.Region.Configuration, 1);
        Payload = new byte[messageBytes];
        new Random(1).NextBytes(Payload);
        while (retention.Next < (runs * PacketsPerRun) - (messageBytes / PacketBytes) - 1)
        {
            packer.Append(topicId, ++Messages, Messages == 1 ? table : null, [], Payload);
        }

        packer.Flush();
        packer.Dispose();
        for (long n = 1; n <= retention.Last; n++)
        {
            var packet = retention[n];
            _packets.Add((packet.Lease!, packet.Offset, packet.Length));
            NoteMessages(packet.Lease!, packet.Offset, packet.Length);
        }

        CutRuns(parts.Core.Port);
    }

    /// <summary>What each message carries.</summary>
    public byte[] Payload { get; }

    public long Messages { get; }

    public List<ReceivedRun> Runs { get; } = [];

    public long Packets => _packets.Count;

    public long Bytes => _packets.Sum(packet => packet.Length);

    /// <summary>Makes all of it the continuation of itself.</summary>
    public void Renumber()
    {
        foreach (var (lease, offset) in _messages)
        {
            Add(lease.Span[(offset + 12)..], Messages);
        }

        foreach (var (lease, offset, length) in _packets)
        {
            Add(lease.Span[(offset + PacketHeader.SequenceOffset)..], _packets.Count);
            PacketTemplate.Seal(lease.Span.Slice(offset, length));
        }
    }

    private static void Add(Span<byte> at, long number) =>
        BinaryPrimitives.WriteInt64LittleEndian(at, BinaryPrimitives.ReadInt64LittleEndian(at) + number);

    private void NoteMessages(Lease lease, int offset, int length)
    {
        var packet = lease.Span.Slice(offset, length);
        for (var messages = new PacketParser(packet); messages.MoveNext();)
        {
            _messages.Add((lease, offset + messages.PreambleAt - MessageHeader.Bytes));
        }
    }

    private void CutRuns(IDatagramPort port)
    {
        int first = 0;
        for (int i = 1; i <= _packets.Count; i++)
        {
            if (i == _packets.Count || _packets[i].Lease != _packets[first].Lease)
            {
                int length = _packets[i - 1].Offset + _packets[i - 1].Length;
                Runs.Add(new ReceivedRun(_packets[first].Lease, 0, length, port));
                first = i;
            }
        }
    }
}
