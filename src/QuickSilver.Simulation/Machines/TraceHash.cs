using System.Buffers.Binary;
using System.Numerics;

namespace QuickSilver.Simulation.Machines;

internal enum TraceKind : byte
{
    Alarm = 1,
    Request = 2,
    Datagrams = 4,
    StreamEvent = 5,
    StreamBytes = 6,
    Fault = 7,
    Start = 8,
    Crash = 9,
    Pause = 10,
    Resume = 11,
    Step = 12,
    Disk = 13,
}

internal readonly record struct TraceEntry(TimeSpan At, int Node, TraceKind Kind, ulong Detail);

// Proof of sameness (I20): a running 64-bit hash over all that nodes were given, in order, with the time. Two runs of one
// seed must end with one value. When they do not, recording both and asking for the first difference shows where to look.
internal sealed class TraceHash
{
    private const ulong First = 0x9E3779B185EBCA87;
    private const ulong Second = 0xC2B2AE3D27D4EB4F;

    private readonly List<TraceEntry>? _recorded;

    public TraceHash(bool record)
    {
        _recorded = record ? [] : null;
    }

    public ulong Value { get; private set; } = First;

    public long Entries { get; private set; }

    public void Add(TimeSpan at, int node, TraceKind kind, ulong detail)
    {
        Entries++;
        ulong hash = Mix(Value, (ulong)at.Ticks);
        hash = Mix(hash, ((ulong)(uint)node << 8) | (ulong)kind);
        Value = Mix(hash, detail);
        _recorded?.Add(new TraceEntry(at, node, kind, detail));
    }

    /// <summary>A 64-bit hash of bytes, the same on every machine.</summary>
    public static ulong Of(ReadOnlySpan<byte> bytes)
    {
        ulong hash = Second ^ (ulong)bytes.Length;
        while (bytes.Length >= sizeof(ulong))
        {
            hash = Mix(hash, BinaryPrimitives.ReadUInt64LittleEndian(bytes));
            bytes = bytes[sizeof(ulong)..];
        }

        ulong tail = 0;
        for (int i = bytes.Length - 1; i >= 0; i--)
        {
            tail = (tail << 8) | bytes[i];
        }

        return Mix(hash, tail);
    }

    /// <summary>A hash of two hashes, in order.</summary>
    public static ulong Join(ulong one, ulong other) => Mix(one, other);

    /// <summary>A sentence on the first entry in which two recorded runs differ, or null when they are the same.</summary>
    public static string? FirstDifference(TraceHash one, TraceHash other)
    {
        if (one._recorded is not { } left || other._recorded is not { } right)
        {
            throw new InvalidOperationException("Both traces must be recorded. Set RecordTrace in the options.");
        }

        for (int i = 0; i < Math.Max(left.Count, right.Count); i++)
        {
            if (i >= left.Count || i >= right.Count || left[i] != right[i])
            {
                return $"Entry {i} differs: {(i < left.Count ? left[i] : "nothing")} and {(i < right.Count ? right[i] : "nothing")}.";
            }
        }

        return null;
    }

    private static ulong Mix(ulong hash, ulong value)
    {
        hash ^= value * Second;
        return (BitOperations.RotateLeft(hash, 31) * First) + Second;
    }
}
