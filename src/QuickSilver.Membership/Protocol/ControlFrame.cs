using System.Buffers.Binary;
using System.Diagnostics.CodeAnalysis;
using QuickSilver.Core.Transport.Tls;
using QuickSilver.Serialization;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Protocol;

internal enum FrameOutcome
{
    // The frame is not there whole yet.
    Incomplete,
    Complete,
    // Its length is over the cap or it holds no message: the stream has lost its meaning.
    Garbage,
}

// A control stream is a row of frames: four bytes of length (little-endian), then a protobuf envelope with one field,
// whose number is the message's kind and whose value is the message.
internal static class ControlFrame
{
    public const int PrefixBytes = 4;

    // A client's largest message is a topic with its contract; a service's a part of a configuration, which it cuts at
    // a fraction of its cap.
    public const int MaxFromClientBytes = 256 * 1024;
    public const int MaxFromServiceBytes = 4 * 1024 * 1024;

    // Reasons and refusals are sentences; the longest names a topic and two types.
    public const int MaxReasonBytes = 16 * 1024;

    public const int ProtocolVersion = 3;

    /// <summary>What a service says that has security, when a node without it connects: a TLS alert, which is no frame.</summary>
    public static bool IsTlsAlert(ReadOnlySpan<byte> bytes) => bytes.StartsWith(TlsSide.NoTlsAlert);

    /// <summary>How a node with security begins. No frame that is small enough begins so.</summary>
    public static bool BeginsTls(ReadOnlySpan<byte> bytes) =>
        bytes.Length >= PrefixBytes && bytes[0] == 22 && FirstBytesStream.BeginsRecord(bytes);

    /// <summary>Appends one framed message.</summary>
    public static void Append<T>(ControlBuffer buffer, in T message)
        where T : IControlMessage
    {
        int frame = buffer.BeginFrame();
        int envelope = buffer.Begin(message.Kind);
        message.Write(buffer);
        buffer.End(envelope);
        buffer.EndFrame(frame);
    }

    /// <summary>Cuts the first frame off <paramref name="bytes"/>: its message's kind and body, and how long it was in all.</summary>
    public static FrameOutcome TryCut(ReadOnlySpan<byte> bytes, int maxBytes, out int kind, out ReadOnlySpan<byte> body, out int frameBytes)
    {
        kind = 0;
        body = default;
        frameBytes = 0;
        if (bytes.Length < PrefixBytes)
        {
            return FrameOutcome.Incomplete;
        }

        uint length = BinaryPrimitives.ReadUInt32LittleEndian(bytes);
        if (length == 0 || length > (uint)maxBytes)
        {
            return FrameOutcome.Garbage;
        }

        if (bytes.Length - PrefixBytes < length)
        {
            return FrameOutcome.Incomplete;
        }

        frameBytes = PrefixBytes + (int)length;
        var reader = new ProtobufReader(bytes[PrefixBytes..frameBytes]);
        try
        {
            if (!reader.TryReadField(out var field))
            {
                return FrameOutcome.Garbage;
            }

            kind = field.Number;
            body = reader.ReadBytes(field);
            return FrameOutcome.Complete;
        }
        catch (QuickSilverException)
        {
            return FrameOutcome.Garbage;
        }
    }

    /// <summary>Reads a message; false with what is wrong with it, as a sentence without its full stop.</summary>
    public static bool TryRead<T>(ReadOnlySpan<byte> body, [MaybeNullWhen(false)] out T message, [NotNullWhen(false)] out string? fault)
        where T : IReadableMessage<T> => TryRead(body, 0, static (bytes, _) => T.Read(bytes), out message, out fault);

    /// <summary>As the other, where reading needs something besides the bytes.</summary>
    public static bool TryRead<TState, T>(
        ReadOnlySpan<byte> body,
        TState state,
        Func<ReadOnlySpan<byte>, TState, T> read,
        [MaybeNullWhen(false)] out T message,
        [NotNullWhen(false)] out string? fault)
    {
        try
        {
            message = read(body, state);
            fault = null;
            return true;
        }
        catch (QuickSilverException invalid)
        {
            message = default;
            fault = invalid is PayloadFormatException payload ? payload.What : invalid.Message.TrimEnd('.');
            return false;
        }
    }
}
