using System.Collections.Concurrent;
using BenchmarkDotNet.Attributes;
using QuickSilver.Core.Requests;

namespace QuickSilver.Microbenchmarks.Requests;

// A batch through the queue by one thread, which shows the bare cost, and by a producer beside the consumer, which shows
// that of the shared line.
[MemoryDiagnoser]
public class RequestQueueBenchmarks
{
    private const int Batch = 4096;

    private readonly RequestQueue _requests = new();
    private readonly ConcurrentQueue<Request> _concurrent = new();
    private readonly Request[] _objects = Enumerable.Range(0, Batch).Select(_ => new ActionRequest(() => { })).ToArray();

    [Benchmark(OperationsPerInvoke = Batch)]
    public void OneThreadRequestQueue()
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
    public void OneThreadConcurrentQueue()
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
    public void TwoThreadsRequestQueue()
    {
        var producer = Task.Run(() =>
        {
            foreach (var request in _objects)
            {
                _requests.Enqueue(request);
            }
        });
        for (int taken = 0; taken < Batch; taken += _requests.TryDequeue() is null ? 0 : 1)
        {
        }

        producer.Wait();
    }

    [Benchmark(OperationsPerInvoke = Batch)]
    public void TwoThreadsConcurrentQueue()
    {
        var producer = Task.Run(() =>
        {
            foreach (var request in _objects)
            {
                _concurrent.Enqueue(request);
            }
        });
        for (int taken = 0; taken < Batch; taken += _concurrent.TryDequeue(out _) ? 1 : 0)
        {
        }

        producer.Wait();
    }
}
