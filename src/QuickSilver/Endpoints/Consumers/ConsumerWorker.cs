using QuickSilver.Endpoints.Rings;

namespace QuickSilver.Endpoints.Consumers;

// Handles one message at a time from a consumer's queue.
internal sealed class ConsumerWorker<T> : IThreadPoolWorkItem
{
    private readonly Consumption<T> _consumption;
    private readonly ConsumerQueue<T> _queue;
    private readonly ConsumerCall<T> _call;
    // Contains the bytes of the message that is being handled.
    private byte[]? _buffer;

    public ConsumerWorker(Consumption<T> consumption, ConsumerQueue<T> queue)
    {
        _consumption = consumption;
        _queue = queue;
        _call = new ConsumerCall<T>(consumption, this);
    }

    public void Wake() => _consumption.RunBeside(this);

    /// <summary>Any thread: ends a wait before a retry.</summary>
    public void EndDelay() => _call.EndDelay();

    public void Execute() => _consumption.RunInside(static worker => ((ConsumerWorker<T>)worker!).Run(), this);

    private void Run()
    {
        // As soon as something else is to run the worker again, it may do so on another thread: this one returns at once.
        for (int i = 0; i < Consumption<T>.MessagesPerRun; i++)
        {
            if (_call.IsPending)
            {
                if (!_call.Continue())
                {
                    return;
                }
            }

            var taken = _queue.Take(this, ref _buffer, out var message, out var fault, out bool signalsRoom);
            if (signalsRoom)
            {
                _consumption.Wake();
            }

            if (taken == QueueTake.Wait)
            {
                return;
            }

            if (taken == QueueTake.Closed)
            {
                _buffer = SlotBuffer.Keep(_buffer);
                _call.Dispose();
                _consumption.OnPartEnded();
                return;
            }

            if (!_call.Begin(message, fault))
            {
                return;
            }
        }

        Wake();
    }
}
