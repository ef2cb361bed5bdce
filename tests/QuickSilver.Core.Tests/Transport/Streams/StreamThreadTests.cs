using QuickSilver.Core.Alarms;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Transport.Streams;

namespace QuickSilver.Core.Tests.Transport.Streams;

public sealed class StreamThreadTests : IDisposable
{
    private readonly LogRecorder _log = new();
    private readonly StreamThread _thread;

    public StreamThreadTests() => _thread = new StreamThread("streams", static () => Poller.Create(PollerKind.Default), _log);

    public void Dispose() => _thread.End();

    [Fact]
    public void Work_from_any_thread_runs_on_the_one_thread_in_its_order()
    {
        var ran = new List<int>();
        var done = new TaskCompletionSource<bool>();
        for (int i = 0; i < 1000; i++)
        {
            int number = i;
            _thread.Schedule(_ => ran.Add(number), null);
        }

        _thread.Schedule(_ => done.SetResult(_thread.IsCurrent), null);
        Assert.True(Patience.Result(done.Task, "the work"));
        Assert.Equal(Enumerable.Range(0, 1000), ran);
    }

    [Fact]
    public void Work_that_throws_is_logged_and_the_others_continue()
    {
        var done = new TaskCompletionSource<bool>();
        _thread.Schedule(static _ => throw new InvalidOperationException("meant"), null);
        _thread.Schedule(_ => done.SetResult(true), null);
        Patience.Result(done.Task, "the work behind it");
        Assert.True(_log.Has(1025));
    }

    [Fact]
    public void An_asynchronous_method_stays_on_the_thread_over_all_that_it_waits_for()
    {
        var signal = new Signal();
        bool[] places = Patience.Result(
            Run(async () =>
            {
                var here = new List<bool>();
                _thread.Schedule(_ => signal.Set(), null);
                await signal.WaitAsync().ConfigureAwait(false);
                here.Add(_thread.IsCurrent);
                await _thread.Delay(TimeSpan.FromMilliseconds(1)).ConfigureAwait(false);
                here.Add(_thread.IsCurrent);
                bool isBeside = !await _thread.RunBeside(() => _thread.IsCurrent).ConfigureAwait(false);
                here.Add(isBeside && _thread.IsCurrent);
                using var limit = new CancellationTokenSource();
                _thread.Schedule(new Alarm(limit.Cancel), TimeSpan.FromMilliseconds(1));
                await new TaskCompletionSource().Task.WaitAsync(limit.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
                here.Add(_thread.IsCurrent);
                return here.ToArray();
            }),
            "the method");
        Assert.Equal([true, true, true, true], places);
    }

    [Fact]
    public void Work_beside_it_that_fails_fails_its_task_there() =>
        Assert.Equal(
            "meant",
            Patience.Result(
                Run(async () =>
                {
                    try
                    {
                        return await _thread.RunBeside<string>(static () => throw new IOException("meant")).ConfigureAwait(false);
                    }
                    catch (IOException failure) when (_thread.IsCurrent)
                    {
                        return failure.Message;
                    }
                }),
                "the failure"));

    [Fact]
    public void A_signal_without_a_wait_is_kept_once()
    {
        var signal = new Signal();
        signal.Set();
        signal.Set();
        Assert.True(signal.WaitAsync().IsCompleted);
        var second = signal.WaitAsync();
        Assert.False(second.IsCompleted);
        signal.Set();
        Assert.True(second.IsCompletedSuccessfully);
    }

    [Fact]
    public void The_thread_ends_when_the_last_stream_has_left()
    {
        var own = new TaskCompletionSource<Thread>();
        _thread.Enter();
        _thread.Schedule(_ => own.SetResult(Thread.CurrentThread), null);
        var thread = Patience.Result(own.Task, "the thread");
        _thread.End();
        var left = new TaskCompletionSource<bool>();
        _thread.Schedule(
            _ =>
            {
                left.SetResult(true);
                _thread.Leave();
            },
            null);
        Patience.Result(left.Task, "the work after the end was asked for");
        Assert.True(thread.Join(Patience.Limit));
    }

    private Task<T> Run<T>(Func<Task<T>> method)
    {
        var done = new TaskCompletionSource<T>(TaskCreationOptions.RunContinuationsAsynchronously);
        _thread.Schedule(
            async _ =>
            {
                try
                {
                    done.SetResult(await method().ConfigureAwait(false));
                }
                catch (Exception failure)
                {
                    done.SetException(failure);
                }
            },
            null);
        return done.Task;
    }
}
