namespace QuickSilver.Tool.Perf.Payloads;

// So many bytes, the same buffer for each message.
internal readonly struct BytesPayload(int bytes) : IPerfPayload<ReadOnlyMemory<byte>>
{
    private readonly byte[] _buffer = new byte[bytes];

    public ReadOnlyMemory<byte> Write(long sentAtTicks, long sequence)
    {
        PerfMessage.Write(_buffer, sentAtTicks, sequence);
        return _buffer;
    }

    public static bool TryRead(in ReadOnlyMemory<byte> message, out long sentAtTicks, out long sequence) =>
        PerfMessage.TryRead(message.Span, out sentAtTicks, out sequence);
}
