using System.Buffers;
using System.IO.Pipelines;
using QuickSilver.Groups.States;

namespace QuickSilver.Groups.Members;

// The calls of a member's handler. What it throws becomes the reason for which the group ends here.
internal sealed class StateCalls<TMessage>(string group, IGroupHandler<TMessage> handler, bool resumesInContext, CancellationToken stop)
{
    public async ValueTask OnEventAsync(GroupEvent<TMessage> one)
    {
        try
        {
            await handler.OnEventAsync(one, stop).ConfigureAwait(resumesInContext);
        }
        catch (Exception exception) when (!IsStop(exception))
        {
            throw new GroupHandlerException(group, nameof(IGroupHandler<>.OnEventAsync), exception);
        }
    }

    public void OnGap(in GapNotice gap)
    {
        try
        {
            handler.OnGap(gap);
        }
        catch (Exception exception)
        {
            throw new GroupHandlerException(group, nameof(IGroupHandler<>.OnGap), exception);
        }
    }

    public async ValueTask<StateBuffer> WriteAsync(long mostBytes)
    {
        var buffer = new StateBuffer(mostBytes);
        try
        {
            await handler.WriteStateAsync(buffer, stop).ConfigureAwait(resumesInContext);
        }
        catch (Exception exception) when (!IsStop(exception))
        {
            throw new GroupHandlerException(group, nameof(IGroupHandler<>.WriteStateAsync), exception);
        }

        return buffer;
    }

    public async ValueTask ReadAsync(ReadOnlyMemory<byte> state, GroupView view)
    {
        var reader = PipeReader.Create(new ReadOnlySequence<byte>(state));
        try
        {
            await handler.ReadStateAsync(reader, view, stop).ConfigureAwait(resumesInContext);
        }
        catch (Exception exception) when (!IsStop(exception))
        {
            throw new GroupHandlerException(group, nameof(IGroupHandler<>.ReadStateAsync), exception);
        }
    }

    private bool IsStop(Exception exception) => exception is OperationCanceledException && stop.IsCancellationRequested;
}
