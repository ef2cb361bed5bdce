using QuickSilver.Generators.Tests.Infrastructure;

namespace QuickSilver.Generators.Tests.Analyzers;

public sealed class BorrowedBytesAnalyzerTests
{
    // What the analyzer knows of the public API: this project does not reference it.
    private const string Api = """
        using System.Collections.Generic;
        using System.Linq;
        using System.Threading;
        using System.Threading.Channels;
        using System.Threading.Tasks;
        using QuickSilver;

        namespace QuickSilver
        {
            public readonly record struct Message<T>(T Value, long Sequence);
            public delegate void MessageHandler<T>(in Message<T> message);
            public interface ITopic<T>
            {
                IDisposable SubscribeInline(MessageHandler<T> handler);
                void Subscribe(Func<Message<T>, CancellationToken, ValueTask> consumer);
                void Respond(Func<Message<T>, CancellationToken, ValueTask<T>> handler);
                IAsyncEnumerable<Message<T>> ReadAllAsync();
                IAsyncEnumerator<Message<T>> Reader { get; }
            }
        }

        sealed class Entry { public ReadOnlyMemory<byte> Bytes; public ReadOnlyMemory<byte> More { get; set; } }

        sealed class C(QuickSilver.ITopic<ReadOnlyMemory<byte>> topic, QuickSilver.ITopic<byte[]> arrays)
        {
            private ReadOnlyMemory<byte> _last;
            private byte[] _own = [];
            private Message<ReadOnlyMemory<byte>> _message;
            private readonly List<ReadOnlyMemory<byte>> _all = [];
            private readonly Queue<Message<ReadOnlyMemory<byte>>> _queue = [];
            private readonly List<byte[]> _owned = [];
            private readonly Dictionary<long, ReadOnlyMemory<byte>> _byKey = [];
            private readonly Channel<ReadOnlyMemory<byte>> _channel = Channel.CreateUnbounded<ReadOnlyMemory<byte>>();
            private readonly TaskCompletionSource<ReadOnlyMemory<byte>> _first = new();
            private readonly Entry _entry = new();

            static Task SaveAsync(ReadOnlyMemory<byte> bytes) => Task.CompletedTask;
            static int Sum(ReadOnlyMemory<byte> bytes) => bytes.Length;
            static IEnumerable<ReadOnlyMemory<byte>> Parts(ReadOnlyMemory<byte> bytes) => [bytes];

            public void Handle(in Message<ReadOnlyMemory<byte>> message)
            {
                HANDLE
            }

            public async ValueTask ConsumeAsync(Message<ReadOnlyMemory<byte>> message, CancellationToken stop)
            {
                CONSUME
                await Task.Yield();
            }

            public async ValueTask<byte[]> AnswerAsync(Message<ReadOnlyMemory<byte>> message, CancellationToken stop)
            {
                ANSWER
                await Task.Yield();
                return _own;
            }

            public async Task M()
            {
                await Task.Yield();
                BODY
            }
        }
        """;

    [Theory]
    [InlineData("_last = message.Value;", "message.Value")]
    [InlineData("_last = message.Value.Slice(4);", "message.Value.Slice(4)")]
    [InlineData("_message = message;", "message")]
    [InlineData("_entry.Bytes = message.Value;", "message.Value")]
    [InlineData("_entry.More = message.Value;", "message.Value")]
    [InlineData("_all.Add(message.Value);", "message.Value")]
    [InlineData("_queue.Enqueue(message);", "message")]
    [InlineData("_byKey[message.Sequence] = message.Value;", "message.Value")]
    [InlineData("_channel.Writer.TryWrite(message.Value);", "message.Value")]
    [InlineData("_first.TrySetResult(message.Value);", "message.Value")]
    [InlineData("var bytes = message.Value; _last = bytes;", "bytes")]
    [InlineData("var bytes = message.Value; _ = Task.Run(() => Sum(bytes));", "() => Sum(bytes)")]
    [InlineData("var bytes = message.Value; ThreadPool.QueueUserWorkItem(_ => Sum(bytes));", "_ => Sum(bytes)")]
    [InlineData("_ = SaveAsync(message.Value);", "message.Value")]
    public async Task QS0016_names_what_a_handler_keeps(string statement, string kept) =>
        Assert.StartsWith($"QS0016: '{kept}' keeps the bytes of a message", Assert.Single(await ReportsAsync("HANDLE", statement)));

    [Theory]
    [InlineData("_last = message.Value;", "message.Value")]
    [InlineData("await Task.Yield(); _all.Add(message.Value);", "message.Value")]
    [InlineData("await _channel.Writer.WriteAsync(message.Value);", "message.Value")]
    [InlineData("_ = SaveAsync(message.Value);", "message.Value")]
    [InlineData("_ = Task.Run(() => Sum(message.Value));", "() => Sum(message.Value)")]
    public async Task QS0016_names_what_a_consumer_keeps(string statement, string kept) =>
        Assert.StartsWith($"QS0016: '{kept}' keeps the bytes of a message", Assert.Single(await ReportsAsync("CONSUME", statement)));

    [Theory]
    [InlineData("topic.SubscribeInline((in Message<ReadOnlyMemory<byte>> message) => _last = message.Value);", "message.Value")]
    [InlineData("topic.Subscribe((message, stop) => { _queue.Enqueue(message); return default; });", "message")]
    [InlineData("var all = new List<ReadOnlyMemory<byte>>(); await foreach (var m in topic.ReadAllAsync()) all.Add(m.Value);", "m.Value")]
    [InlineData(
        "var all = new List<(long, ReadOnlyMemory<byte>)>(); await foreach (var m in topic.ReadAllAsync()) all.Add((m.Sequence, m.Value));",
        "(m.Sequence, m.Value)")]
    [InlineData("var all = new ReadOnlyMemory<byte>[9]; await foreach (var m in topic.ReadAllAsync()) all[0] = m.Value;", "m.Value")]
    [InlineData(
        "var all = new List<ReadOnlyMemory<byte>>(); while (await topic.Reader.MoveNextAsync()) all.Add(topic.Reader.Current.Value);",
        "topic.Reader.Current.Value")]
    [InlineData("var all = await topic.ReadAllAsync().ToListAsync();", "ToListAsync")]
    public async Task QS0016_names_what_lambdas_and_readers_keep(string statements, string kept) =>
        Assert.StartsWith($"QS0016: '{kept}' keeps the bytes of a message", Assert.Single(await ReportsAsync("BODY", statements)));

    [Theory]
    [InlineData("HANDLE", "_own = message.Value.ToArray();")]
    [InlineData("HANDLE", "_last = message.Value.ToArray();")]
    [InlineData("HANDLE", "_all.Add(message.Value.ToArray());")]
    [InlineData("HANDLE", "_owned.Add(message.Value.ToArray());")]
    [InlineData("HANDLE", "_message = message with { Value = message.Value.ToArray() };")]
    [InlineData("HANDLE", "ReadOnlyMemory<byte> bytes = message.Value; bytes = bytes.ToArray(); _last = bytes;")]
    [InlineData("HANDLE", "var bytes = message.Value; Sum(bytes); Console.WriteLine(Convert.ToHexString(bytes.Span));")]
    [InlineData("HANDLE", "var parts = new List<ReadOnlyMemory<byte>>(); parts.Add(message.Value); Sum(parts[0]);")]
    [InlineData("HANDLE", "var entry = new Entry { Bytes = message.Value }; entry.More = message.Value; Sum(entry.Bytes);")]
    [InlineData("HANDLE", "var all = Parts(message.Value).Select(part => part.Length).ToList();")]
    [InlineData("HANDLE", "var owned = message.Value.ToArray(); _ = Task.Run(() => Sum(owned));")]
    [InlineData("HANDLE", "_ = SaveAsync(message.Value.ToArray());")]
    [InlineData("CONSUME", "await SaveAsync(message.Value);")]
    [InlineData("CONSUME", "await Task.Run(() => Sum(message.Value));")]
    [InlineData("CONSUME", "var save = SaveAsync(message.Value); await save;")]
    [InlineData("CONSUME", "await Task.WhenAll(SaveAsync(message.Value), SaveAsync(message.Value));")]
    [InlineData("ANSWER", "_last = message.Value;")]
    [InlineData("BODY", "topic.Respond((message, stop) => { _last = message.Value; return new(message.Value); });")]
    [InlineData("BODY", "topic.Respond(async (message, stop) => { _last = message.Value; await Task.Yield(); return message.Value; });")]
    [InlineData("BODY", "await foreach (var m in arrays.ReadAllAsync()) _owned.Add(m.Value);")]
    [InlineData("BODY", "await foreach (var m in topic.ReadAllAsync()) { var one = new List<ReadOnlyMemory<byte>>(); one.Add(m.Value); }")]
    [InlineData("BODY", "await foreach (var m in topic.ReadAllAsync()) await SaveAsync(m.Value);")]
    [InlineData("BODY", "foreach (var m in _queue) _all.Add(m.Value);")]
    [InlineData("BODY", "var all = await arrays.ReadAllAsync().ToListAsync();")]
    public async Task Bytes_copied_or_used_while_they_are_valid_are_not_reported(string place, string statements) =>
        Assert.Empty(await ReportsAsync(place, statements));

    private static Task<IReadOnlyList<string>> ReportsAsync(string place, string statements) =>
        Driver.AnalyzeAsync(Driver.Compile(new[] { "HANDLE", "CONSUME", "ANSWER", "BODY" }.Aggregate(
            Api, (source, one) => source.Replace(one, one == place ? statements : "", StringComparison.Ordinal))));
}
