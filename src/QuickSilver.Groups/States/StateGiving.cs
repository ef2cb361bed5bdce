using QuickSilver.Multicast.Protocols.Transfers;

namespace QuickSilver.Groups.States;

// The state for one node, in chunks. While it is not written, a chunk says so each second, so that the other node does not take this one
// for silent.
internal sealed class StateGiving(IStateMember member, StateRequest request, long from) : ITransferContent
{
    private static readonly TimeSpan SignInterval = TimeSpan.FromSeconds(1);

    private long _position = from;
    private bool _hasBegun;
    private int _given;

    public async ValueTask<TransferChunk> ReadAsync(Memory<byte> buffer)
    {
        StateAnswer answer;
        try
        {
            answer = await request.Answered.WaitAsync(SignInterval, member.Time).ConfigureAwait(member.ResumesInContext);
        }
        catch (TimeoutException)
        {
            buffer.Span[0] = (byte)StateChunkKind.Wait;
            return Chunk(StateChunk.KindBytes);
        }

        if (!_hasBegun)
        {
            _hasBegun = true;
            return Chunk(Begin(answer, buffer.Span));
        }

        if (answer.State is not { } state)
        {
            return default;
        }

        int bytes = Math.Min(buffer.Length - StateChunk.KindBytes, state.Length - _given);
        if (bytes == 0)
        {
            return default;
        }

        buffer.Span[0] = (byte)StateChunkKind.Bytes;
        state.Span.Slice(_given, bytes).CopyTo(buffer.Span[StateChunk.KindBytes..]);
        _given += bytes;
        return Chunk(StateChunk.KindBytes + bytes);
    }

    public void Dispose() => request.Abandon();

    private static int Begin(StateAnswer answer, Span<byte> chunk)
    {
        if (answer.State is { } state)
        {
            int bytes = StateChunk.SizeOfBegin(answer.Place);
            if (bytes > chunk.Length)
            {
                throw new InvalidOperationException(
                    $"A state cannot be given in a view in which {answer.Place.Through.Count:N0} nodes have sent: too many for one chunk.");
            }

            StateChunk.WriteBegin(chunk, answer.Place, state.Length);
            return bytes;
        }

        if (answer.TooLarge > 0)
        {
            StateChunk.WriteTooLarge(chunk, answer.TooLarge, answer.Limit);
            return StateChunk.TooLargeBytes;
        }

        StateChunk.WriteNone(chunk, answer.Place.View);
        return StateChunk.NoneBytes;
    }

    private TransferChunk Chunk(int bytes) => new(bytes, _position += bytes);
}
