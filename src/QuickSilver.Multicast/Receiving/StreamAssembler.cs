using System.Runtime.CompilerServices;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Reassembly;
using QuickSilver.Multicast.Receiving.Windows;

namespace QuickSilver.Multicast.Receiving;

// Reassembles the messages of one stream that span packets, from packets in any order. A message for which there is no memory stays in its
// packets, and so do the messages that begin after it. They continue in the order in which they begin, so no message that has begun waits
// for one that has not. An unreliable stream does not wait for memory: the message is lost.
internal sealed class StreamAssembler(ReceivingParts parts, InboundStream stream, PacketWindow window, IStreamConsumer consumer)
    : IReassemblyWaiter
{
    private readonly OpenAssemblies _open = new();
    // The packets in which messages begin that wait for memory.
    private readonly Queue<long> _deferred = new();
    private bool _isClosed;

    /// <summary>Whether the stream waits in a line of the budget.</summary>
    public bool IsInLine { get; set; }

    /// <summary>Whether a message waits for memory.</summary>
    public bool IsWaiting => _deferred.Count > 0 && !_isClosed;

    /// <summary>Whether a message that begins before this packet waits for memory.</summary>
    public bool IsWaitingBefore(long packet)
    {
        if (IsWaiting)
        {
            // A packet with a start table is parsed before its turn, so the first in the line need not be the oldest.
            foreach (long deferred in _deferred)
            {
                if (deferred < packet)
                {
                    return true;
                }
            }
        }

        return false;
    }

    /// <summary>Whether a message has begun and is not complete.</summary>
    public bool IsAnyOpen => _open.Count > 0;

    private NodeContext Context => parts.Node;

    private ReassemblyBudget Budget => parts.Reassembly;

    /// <summary>Called when there may be memory for the messages that wait.</summary>
    public void Retry() => stream.ReadOn();

    /// <summary>Continues a message with the head of a packet; the message began so many packets earlier.</summary>
    public void Continue(long packet, long distance)
    {
        if (_open.Find(packet - distance) is { } assembly)
        {
            Extend(assembly);
        }
    }

    /// <summary>
    /// Begins a message at the end of this packet. Its header is followed by the preamble that its marks describe, then by its first
    /// bytes.
    /// </summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public void Begin(long packet, ulong topicId, long number, int total, MessageMarks marks, ReadOnlySpan<byte> rest)
    {
        if (_open.Find(packet) is { } begun)
        {
            // The packet is read again.
            Extend(begun);
            return;
        }

        ReassemblyShare share;
        if (!stream.IsReliable)
        {
            if (!Budget.TryTakeNow(total, out share))
            {
                return;
            }
        }
        else if (_deferred.Count > 0 || IsPausingFor(total) || !Budget.TryTake(total, this, out share))
        {
            Defer(packet, topicId, marks, rest);
            return;
        }

        if (TryBegin(share, packet, topicId, number, total, marks, rest) is { } assembly)
        {
            if (packet < stream.Highest)
            {
                Extend(assembly);
            }
        }
        else if (stream.IsReliable)
        {
            Defer(packet, topicId, marks, rest);
        }
    }

    // The message stays in its packet, which counts as not consumed, until there is memory: the sender sees a full window.
    // Where the topic begins is passed on before, because the sender assumes that it is known once the packet is held.
    private void Defer(long packet, ulong topicId, MessageMarks marks, ReadOnlySpan<byte> rest)
    {
        if ((marks & MessageMarks.Start) != 0 && MessagePreamble.TryMeasure(rest, marks, out var preamble))
        {
            consumer.OnBeginning(stream, topicId, rest[..preamble.TableBytes]);
        }

        Context.Environment.Heap.Ask(HeapUse.OpenMessage, sizeof(long));
        _deferred.Enqueue(packet);
        window[packet].Pending++;
    }

    // While the heap has no memory, neither a large message nor one that was refused asks for any: each refusal costs a full collection.
    private bool IsPausingFor(int total)
    {
        bool isPausing = Context.Shortage.IsPausing && (total > ReassemblyBudget.SmallBytes || stream.IsInShortage);
        if (isPausing)
        {
            Context.Shortage.Await(stream);
        }

        return isPausing;
    }

    /// <summary>Begins the messages that wait for memory, as far as there is some. Returns whether any has begun.</summary>
    public bool BeginDeferred()
    {
        bool hasBegun = false;
        while (_deferred.TryPeek(out long packet))
        {
            var bytes = window[packet].Packet;
            var rest = LastMessage(bytes, out ulong topicId, out long number, out int total, out var marks);
            var assembly = _open.Find(packet);
            if (assembly is null)
            {
                if (IsPausingFor(total) || !Budget.TryTake(total, this, out var share))
                {
                    break;
                }

                assembly = TryBegin(share, packet, topicId, number, total, marks, rest);
                if (assembly is null)
                {
                    break;
                }
            }

            // If there is no memory to pass the message on, it stays first in the line.
            Extend(assembly);
            _deferred.Dequeue();
            window[packet].Pending--;
            hasBegun = true;
        }

        return hasBegun;
    }

    /// <summary>Drops the messages of which a packet is lost.</summary>
    public void DropBroken() =>
        Drop(_open.Where(one => !one.IsComplete && window.Contains(one.NextPacket) && !window.Holds(one.NextPacket)));

    /// <summary>Drops the messages that are not complete.</summary>
    public void DropOpen() => Drop(_open.Where(static one => !one.IsComplete));

    public void Close()
    {
        _isClosed = true;
        _deferred.Clear();
        Drop(_open.Where(static _ => true));
    }

    // Finds the message that continues in the next packet, in a packet that was parsed before. Returns the bytes after its header.
    private static ReadOnlySpan<byte> LastMessage(
        ReadOnlySpan<byte> packet, out ulong topicId, out long number, out int total, out MessageMarks marks)
    {
        for (var messages = new PacketParser(packet); messages.MoveNext();)
        {
            if (messages.Continues)
            {
                (topicId, number, total, marks) = (messages.Topic, messages.Number, messages.PayloadBytes, messages.Marks);
                return messages.Rest;
            }
        }

        throw new InvalidOperationException("A message was deferred in a packet in which no message continues in the next packet.");
    }

    // Null: there is no memory. Bytes of a message are taken before any of it counts as read.
    private Assembly? TryBegin(
        ReassemblyShare share, long packet, ulong topicId, long number, int total, MessageMarks marks, ReadOnlySpan<byte> rest)
    {
        MessagePreamble.TryMeasure(rest, marks, out var preamble);
        Assembly? assembly = null;
        try
        {
            assembly = Budget.Rent();
            assembly.Begin(share, topicId, number, preamble.FieldBytes, total);
            assembly.BeginIn(packet, rest[..preamble.TableBytes]);
            _open.Add(assembly, Context.Environment.Heap);
        }
        catch (OutOfMemoryException)
        {
            Budget.ReturnBytes(share, total);
            if (assembly is not null)
            {
                Budget.Return(assembly);
            }

            if (stream.IsReliable)
            {
                Context.Shortage.Await(stream);
            }
            else
            {
                Context.Shortage.OnRefused();
            }

            return null;
        }

        assembly.Append(rest[(preamble.Bytes - preamble.FieldBytes)..]);
        return assembly;
    }

    // Appends all pieces of the message that have arrived.
    private void Extend(Assembly assembly)
    {
        while (!assembly.IsComplete)
        {
            long next = assembly.NextPacket;
            if (!window.Holds(next))
            {
                if (window.Contains(next))
                {
                    // The packet was given up before this one was parsed.
                    Drop(assembly);
                }

                return;
            }

            var packet = window[next].Packet;
            var header = new PacketHeader(packet);
            int headBytes = header.HeadBytes;
            if (headBytes == 0 || next - header.HeadDistance != assembly.StartPacket
                || !assembly.Append(packet.Slice(PacketHeader.Bytes, headBytes)))
            {
                Context.Counters.Drop(DropReason.Malformed);
                Drop(assembly);
                return;
            }
        }

        var message = new StreamMessage(stream.Sender)
        {
            StartTable = assembly.StartTable,
            EndPacket = assembly.NextPacket - 1,
            Assembly = assembly,
        };
        assembly.Deliver(ref message.Delivered);
        if (!TryPass(message, assembly))
        {
            return;
        }

        Drop(assembly);
    }

    // A message of a reliable stream stays open if there is no memory to pass it on. False: it was of an unreliable one, and is dropped.
    private bool TryPass(in StreamMessage message, Assembly assembly)
    {
        try
        {
            consumer.OnMessage(stream, message);
            return true;
        }
        catch (OutOfMemoryException) when (!stream.IsReliable)
        {
            Context.Shortage.OnRefused();
            Drop(assembly);
            return false;
        }
    }

    private void Drop(Assembly assembly)
    {
        _open.Remove(assembly);
        if (!assembly.IsKept)
        {
            assembly.Release();
        }
    }

    private void Drop(List<Assembly> assemblies)
    {
        foreach (var assembly in assemblies)
        {
            Drop(assembly);
        }
    }
}
