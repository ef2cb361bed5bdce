using QuickSilver.Core.Requests;
using QuickSilver.Core.Tests.Infrastructure;

namespace QuickSilver.Core.Tests.Requests;

public sealed class RequestQueueTests
{
    [Fact]
    public void An_action_is_named_by_the_method_that_it_was_written_in()
    {
        int runs = 0;
        string expected = $"request {nameof(RequestQueueTests)}.{nameof(An_action_is_named_by_the_method_that_it_was_written_in)}";
        Assert.Equal(expected, new ActionRequest(() => runs++).ToString());
        Assert.Equal(expected, new ActionRequest(static () => GC.KeepAlive(null)).ToString());
        Assert.Equal("request GC.Collect", new ActionRequest(GC.Collect).ToString());
    }

    private readonly RequestQueue _queue = new();

    [Fact]
    public void Requests_come_out_in_the_order_in_which_they_went_in()
    {
        var requests = Numbered(100);
        foreach (var request in requests)
        {
            Assert.False(_queue.Enqueue(request));
        }

        Assert.Equal(requests, DequeueAll());
        Assert.Null(_queue.TryDequeue());
    }

    [Fact]
    public void Requests_that_come_while_a_batch_is_in_work_come_after_it()
    {
        var requests = Numbered(4);
        _queue.Enqueue(requests[0]);
        _queue.Enqueue(requests[1]);
        Assert.Same(requests[0], _queue.TryDequeue());
        _queue.Enqueue(requests[2]);
        _queue.Enqueue(requests[3]);

        Assert.Equal(requests[1..], DequeueAll());
    }

    [Fact]
    public void A_request_may_be_queued_again_once_it_was_taken_and_not_before()
    {
        var request = new NumberedRequest(0, 0);
        _queue.Enqueue(request);
        Assert.Throws<InvalidOperationException>(() => _queue.Enqueue(request));

        Assert.Same(request, _queue.TryDequeue());
        _queue.Enqueue(request);
        Assert.Same(request, _queue.TryDequeue());
        Assert.Null(_queue.TryDequeue());
    }

    [Fact]
    public void Only_the_first_request_after_the_consumer_went_to_sleep_must_wake_it()
    {
        Assert.True(_queue.TryBeginSleep());
        Assert.True(_queue.Enqueue(new NumberedRequest(0, 0)));
        Assert.False(_queue.Enqueue(new NumberedRequest(0, 1)));
        _queue.EndSleep();
        Assert.False(_queue.Enqueue(new NumberedRequest(0, 2)));
        Assert.Equal(3, DequeueAll().Count);
    }

    [Fact]
    public void The_consumer_does_not_sleep_on_what_is_queued()
    {
        _queue.Enqueue(new NumberedRequest(0, 0));
        _queue.Enqueue(new NumberedRequest(0, 1));
        Assert.False(_queue.TryBeginSleep());
        _queue.TryDequeue();
        // The second is in the consumer's own batch by now.
        Assert.False(_queue.TryBeginSleep());
        _queue.TryDequeue();
        Assert.True(_queue.TryBeginSleep());
    }

    [Fact]
    public void A_consumer_that_ended_its_sleep_unanswered_needs_no_waking()
    {
        Assert.True(_queue.TryBeginSleep());
        _queue.EndSleep();
        Assert.False(_queue.Enqueue(new NumberedRequest(0, 0)));
        Assert.Single(DequeueAll());
    }

    [Fact]
    public void The_queue_does_as_a_plain_queue_and_a_flag_do()
    {
        Steps.Hold(steps =>
        {
            var queue = new RequestQueue();
            var model = new Queue<Request>();
            bool asleep = false;
            foreach (int step in steps)
            {
                switch (step % 8)
                {
                    case < 3:
                        var request = new NumberedRequest(0, step);
                        model.Enqueue(request);
                        Assert.Equal(asleep, queue.Enqueue(request));
                        asleep = false;
                        break;
                    case < 6:
                        Assert.Same(model.TryDequeue(out var first) ? first : null, queue.TryDequeue());
                        break;
                    case 6 when !asleep:
                        asleep = queue.TryBeginSleep();
                        Assert.Equal(model.Count == 0, asleep);
                        break;
                    default:
                        queue.EndSleep();
                        asleep = false;
                        break;
                }
            }
        });
    }

    // Covers I19 for the request queue: a lost wake-up would leave the consumer waiting until the deadline.
    [Fact]
    public void Many_threads_lose_nothing_and_every_sleeper_is_woken()
    {
        const int Producers = 6;
        const int PerProducer = 20_000;
        using var wake = new SemaphoreSlim(0);
        var takenOf = new int[Producers];
        int wakes = 0;
        int ticket = 0;
        var producers = Enumerable.Range(0, Producers).Select(producer => new Thread(() =>
        {
            for (int i = 0; i < PerProducer; i++)
            {
                var request = new NumberedRequest(producer, i) { Before = Interlocked.Increment(ref ticket) };
                if (_queue.Enqueue(request))
                {
                    Interlocked.Increment(ref wakes);
                    wake.Release();
                }

                request.After = Interlocked.Increment(ref ticket);
                if (i % 64 == 0)
                {
                    // Until the consumer has run dry of this producer's: it goes to sleep whenever all of them wait here.
                    SpinWait.SpinUntil(() => Volatile.Read(ref takenOf[producer]) > i);
                }
            }
        })).ToArray();

        // The first sleep does not hang on how the threads are scheduled.
        Assert.True(_queue.TryBeginSleep());
        int sleeps = 1;
        foreach (var producer in producers)
        {
            producer.Start();
        }

        WaitForWake();
        var taken = new List<NumberedRequest>(Producers * PerProducer);
        while (taken.Count < Producers * PerProducer)
        {
            if (_queue.TryDequeue() is NumberedRequest request)
            {
                taken.Add(request);
                Volatile.Write(ref takenOf[request.Producer], request.Number + 1);
            }
            else if (_queue.TryBeginSleep())
            {
                sleeps++;
                WaitForWake();
            }
        }

        foreach (var producer in producers)
        {
            producer.Join();
        }

        Assert.Null(_queue.TryDequeue());
        Assert.Equal(sleeps, wakes);
        AssertOrdered(taken, Producers);

        void WaitForWake()
        {
            Assert.True(wake.Wait(TimeSpan.FromSeconds(60)), "Nothing woke the consumer.");
            _queue.EndSleep();
        }
    }

    [Fact]
    public void Queueing_allocates_nothing()
    {
        var requests = Numbered(100);
        long allocated = Allocations.After(() =>
        {
            for (int i = 0; i < 10; i++)
            {
                foreach (var request in requests)
                {
                    _queue.Enqueue(request);
                }

                while (_queue.TryDequeue() is not null)
                {
                }

                _queue.TryBeginSleep();
                _queue.EndSleep();
            }
        });

        Assert.Equal(0, allocated);
    }

    // A request whose enqueue had ended before that of another began comes before it, whichever threads they came from.
    private static void AssertOrdered(List<NumberedRequest> taken, int producers)
    {
        var next = new int[producers];
        int latestBegin = 0;
        foreach (var request in taken)
        {
            Assert.Equal(next[request.Producer]++, request.Number);
            Assert.True(request.After > latestBegin);
            latestBegin = Math.Max(latestBegin, request.Before);
        }
    }

    private static NumberedRequest[] Numbered(int count) =>
        Enumerable.Range(0, count).Select(i => new NumberedRequest(0, i)).ToArray();

    private List<Request> DequeueAll()
    {
        var taken = new List<Request>();
        while (_queue.TryDequeue() is { } request)
        {
            taken.Add(request);
        }

        return taken;
    }

    private sealed class NumberedRequest(int producer, int number) : Request
    {
        public int Producer => producer;
        public int Number => number;
        public int Before { get; init; }
        public int After { get; set; }

        public override void Execute()
        {
        }
    }
}
