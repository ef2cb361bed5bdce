using System.IO.Pipelines;
using System.Text;
using QuickSilver.Simulation;

namespace QuickSilver.Groups.Tests.States;

// A state that lists all events, with calls that a test can delay or fail.
internal sealed class Ledger(SimulatedNode node) : IGroupHandler<string>
{
    private readonly List<string> _lines = [];

    public IReadOnlyList<string> Lines => _lines;

    public int Writes { get; private set; }

    public int Reads { get; private set; }

    public SubscriptionEnd? End { get; private set; }

    public TimeSpan EventTime { get; set; }

    public TimeSpan WriteTime { get; set; }

    public TimeSpan ReadTime { get; set; }

    /// <summary>Adds so many bytes to what is written.</summary>
    public int Padding { get; set; }

    public string? FailsIn { get; set; }

    /// <summary>Called in each event, after it was added.</summary>
    public Func<ValueTask>? OnEvent { get; set; }

    public async ValueTask OnEventAsync(GroupEvent<string> one, CancellationToken cancellationToken)
    {
        await WaitAsync(EventTime, cancellationToken);
        FailIf(nameof(OnEventAsync));
        _lines.Add(one.TryGetMessage(out string? text) ? text : $"view {one.View.Number}");
        if (one.Question is { } question)
        {
            await question.ReplyAsync($"{_lines.Count} lines");
        }

        if (OnEvent is { } called)
        {
            await called();
        }
    }

    public async ValueTask WriteStateAsync(PipeWriter to, CancellationToken cancellationToken)
    {
        Writes++;
        await WaitAsync(WriteTime, cancellationToken);
        FailIf(nameof(WriteStateAsync));
        await to.WriteAsync(Encoding.UTF8.GetBytes(string.Join('\n', _lines) + '\n' + new string(' ', Padding)), cancellationToken);
    }

    public async ValueTask ReadStateAsync(PipeReader from, GroupView view, CancellationToken cancellationToken)
    {
        Reads++;
        await WaitAsync(ReadTime, cancellationToken);
        FailIf(nameof(ReadStateAsync));
        using var reader = new StreamReader(from.AsStream());
        string text = await reader.ReadToEndAsync(cancellationToken);
        _lines.Clear();
        _lines.AddRange(text.TrimEnd().Split('\n'));
    }

    public void OnEnded(SubscriptionEnd end) => End = end;

    private void FailIf(string call)
    {
        if (FailsIn == call)
        {
            throw new FormatException($"planned in {call}");
        }
    }

    private Task WaitAsync(TimeSpan time, CancellationToken cancellationToken) =>
        time > TimeSpan.Zero ? Task.Delay(time, node.Time, cancellationToken) : Task.CompletedTask;
}
