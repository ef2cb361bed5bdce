namespace QuickSilver.Tool.Perf.Payloads;

// So many bytes, the same buffer for each message.
internal readonly struct BytesPayload : IPerfPayload<ReadOnlyMemory<byte>>
{
    private readonly byte[] _buffer;
    private readonly ReadOnlyMemory<byte>[] _message;

    public BytesPayload(int bytes)
    {
        _buffer = new byte[bytes];
        _message = [_buffer];
    }

    public ref readonly ReadOnlyMemory<byte> Write(long sentAtTicks, long sequence)
    {
        PerfMessage.Write(_buffer, sentAtTicks, sequence);
        return ref _message[0];
    }

    public static bool TryRead(in ReadOnlyMemory<byte> message, out long sentAtTicks, out long sequence) =>
        PerfMessage.TryRead(message.Span, out sentAtTicks, out sequence);
}
