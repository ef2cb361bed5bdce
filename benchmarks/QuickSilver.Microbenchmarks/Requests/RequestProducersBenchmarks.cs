using System.Collections.Concurrent;
using System.Threading.Channels;
using BenchmarkDotNet.Attributes;
using QuickSilver.Core.Requests;

namespace QuickSilver.Microbenchmarks.Requests;

// A batch from some producing threads to the one that consumes while they produce: what a node's core thread sees of its
// publishers. A consumer that finds nothing yields.
[MemoryDiagnoser]
public class RequestProducersBenchmarks
{
    private const int Batch = 16_384;

    private readonly RequestQueue _requests = new();
    private readonly ConcurrentQueue<Request> _concurrent = new();
    private readonly Channel<Request> _channel = Channel.CreateUnbounded<Request>(new UnboundedChannelOptions { SingleReader = true });
    private readonly Request[] _objects = Enumerable.Range(0, Batch).Select(_ => new ActionRequest(() => { })).ToArray();
    private readonly Action<int> _toRequests;
    private readonly Action<int> _toConcurrent;
    private readonly Action<int> _toChannel;
    private Producers? _producers;

    public RequestProducersBenchmarks()
    {
        _toRequests = number =>
        {
            for (int i = number; i < Batch; i += ProducerCount)
            {
                _requests.Enqueue(_objects[i]);
            }
        };
        _toConcurrent = number =>
        {
            for (int i = number; i < Batch; i += ProducerCount)
            {
                _concurrent.Enqueue(_objects[i]);
            }
        };
        _toChannel = number =>
        {
            for (int i = number; i < Batch; i += ProducerCount)
            {
                _channel.Writer.TryWrite(_objects[i]);
            }
        };
    }

    [Params(1, 2, 4)]
    public int ProducerCount { get; set; }

    [GlobalSetup]
    public void Setup() => _producers = new Producers(ProducerCount);

    [GlobalCleanup]
    public void Cleanup() => _producers!.Dispose();

    [Benchmark(Baseline = true, OperationsPerInvoke = Batch)]
    public void RequestQueue()
    {
        _producers!.Go(_toRequests);
        var wait = new SpinWait();
        for (int taken = 0; taken < Batch;)
        {
            if (_requests.TryDequeue() is not null)
            {
                taken++;
            }
            else
            {
                wait.SpinOnce(sleep1Threshold: -1);
            }
        }
    }

    [Benchmark(OperationsPerInvoke = Batch)]
    public void ConcurrentQueue()
    {
        _producers!.Go(_toConcurrent);
        var wait = new SpinWait();
        for (int taken = 0; taken < Batch;)
        {
            if (_concurrent.TryDequeue(out _))
            {
                taken++;
            }
            else
            {
                wait.SpinOnce(sleep1Threshold: -1);
            }
        }
    }

    [Benchmark(OperationsPerInvoke = Batch)]
    public void UnboundedChannel()
    {
        _producers!.Go(_toChannel);
        var wait = new SpinWait();
        for (int taken = 0; taken < Batch;)
        {
            if (_channel.Reader.TryRead(out _))
            {
                taken++;
            }
            else
            {
                wait.SpinOnce(sleep1Threshold: -1);
            }
        }
    }
}
