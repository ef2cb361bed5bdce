using System.Globalization;

namespace QuickSilver.Campaign.Contenders;

/// <summary>A part of what another row moved a second in the same round.</summary>
internal sealed record RateShare(Series Of, double Share)
{
    public double MessagesPerSecond => Of.Last.MessagesPerSecond * Share;

    public bool IsKnown => MessagesPerSecond > 0;
}

/// <summary>The options of `qsm perf send` and `receive` beyond the load: by default to move bytes as fast as they can.</summary>
internal sealed record OwnTraffic
{
    /// <summary>To all processes.</summary>
    public string[] Options { get; init; } = [];

    public string[] ReceiverOptions { get; init; } = [];

    /// <summary>Whether the node asks for the messages, instead of being given them.</summary>
    public bool IsFed { get; init; }

    public RateShare? Rate { get; init; }

    /// <summary>So many messages instead of so many seconds.</summary>
    public long? Count { get; init; }

    /// <summary>Longer than usual, where what is pooled is to have grown to what the load needs at most.</summary>
    public int? WarmUpSeconds { get; init; }

    /// <summary>The message is of a type, which has its size; else it has that of the load.</summary>
    public bool IsTyped { get; init; }

    /// <summary>Not the load's size but that of these payloads, in the mean.</summary>
    public Series? SizeOf { get; init; }

    /// <summary>Null, or why it cannot be sent.</summary>
    public string? Fault => Rate is { IsKnown: false } ? "no rate: the run that it is a share of failed"
        : SizeOf is not null && !(SizeOf.Last.PayloadBytes > 0) ? "no size: the run that it is taken from failed"
        : null;

    /// <summary>Of the sender. What is taken from other rows is that of the last round.</summary>
    public IEnumerable<string> SenderOptions(Load load, int seconds)
    {
        if (!IsTyped)
        {
            yield return "--size";
            yield return Text(SizeOf is null ? load.Bytes : SizeOf.Last.PayloadBytes);
        }

        yield return Count is null ? "--seconds" : "--count";
        yield return Text(Count ?? seconds);
        yield return "--receivers";
        yield return Text(load.Receivers);
        if (WarmUpSeconds is { } warmUp)
        {
            yield return "--warm-up";
            yield return Text(warmUp);
        }

        if (Rate is not null)
        {
            yield return "--rate";
            yield return Text(Rate.MessagesPerSecond);
        }

        if (IsFed)
        {
            yield return "--feed";
        }

        foreach (string option in Options)
        {
            yield return option;
        }
    }

    private static string Text(double number) => number.ToString("F0", CultureInfo.InvariantCulture);
}
