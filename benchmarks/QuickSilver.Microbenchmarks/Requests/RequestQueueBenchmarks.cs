using System.Collections.Concurrent;
using System.Threading.Channels;
using BenchmarkDotNet.Attributes;
using QuickSilver.Core.Requests;

namespace QuickSilver.Microbenchmarks.Requests;

// A batch in and out again by one thread: the bare cost, without a line that threads share.
[MemoryDiagnoser]
public class RequestQueueBenchmarks
{
    private const int Batch = 4096;

    private readonly RequestQueue _requests = new();
    private readonly ConcurrentQueue<Request> _concurrent = new();
    private readonly Channel<Request> _channel = Channel.CreateUnbounded<Request>(new UnboundedChannelOptions { SingleReader = true });
    private readonly Request[] _objects = Enumerable.Range(0, Batch).Select(_ => new ActionRequest(() => { })).ToArray();

    [Benchmark(Baseline = true, OperationsPerInvoke = Batch)]
    public void RequestQueue()
    {
        foreach (var request in _objects)
        {
            _requests.Enqueue(request);
        }

        while (_requests.TryDequeue() is not null)
        {
        }
    }

    [Benchmark(OperationsPerInvoke = Batch)]
    public void ConcurrentQueue()
    {
        foreach (var request in _objects)
        {
            _concurrent.Enqueue(request);
        }

        while (_concurrent.TryDequeue(out _))
        {
        }
    }

    [Benchmark(OperationsPerInvoke = Batch)]
    public void UnboundedChannel()
    {
        foreach (var request in _objects)
        {
            _channel.Writer.TryWrite(request);
        }

        while (_channel.Reader.TryRead(out _))
        {
        }
    }
}
