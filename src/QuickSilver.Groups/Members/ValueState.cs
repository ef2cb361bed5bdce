using System.Buffers;
using System.IO.Pipelines;
using QuickSilver.Serialization;

namespace QuickSilver.Groups.Members;

// A state that is a value: each event makes the next one, and a codec writes and reads it.
internal sealed class ValueState<TState, TMessage>(
    TState initial, Func<TState, GroupEvent<TMessage>, TState> apply, IPayloadCodec<TState> codec) : IGroupHandler<TMessage>
{
    // In a box of its own, so that a value of any size is replaced at once.
    private volatile Box _state = new(initial);

    public TState State => _state.Value;

    public ValueTask OnEventAsync(GroupEvent<TMessage> one, CancellationToken cancellationToken)
    {
        _state = new Box(apply(_state.Value, one));
        return ValueTask.CompletedTask;
    }

    public ValueTask WriteStateAsync(PipeWriter to, CancellationToken cancellationToken)
    {
        var state = _state.Value;
        to.Advance(codec.Write(in state, to.GetSpan(codec.GetMaxSize(in state))));
        return ValueTask.CompletedTask;
    }

    public ValueTask ReadStateAsync(PipeReader from, GroupView view, CancellationToken cancellationToken)
    {
        // All of it is there: it came as a whole.
        if (!from.TryRead(out var read))
        {
            throw new PayloadFormatException("There is no state to read.");
        }

        _state = new Box(codec.Read(read.Buffer.ToArray()));
        from.AdvanceTo(read.Buffer.End);
        return ValueTask.CompletedTask;
    }

    private sealed record Box(TState Value);
}
