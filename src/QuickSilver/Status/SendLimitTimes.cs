namespace QuickSilver;

/// <summary>
/// For how long the streams of a node were kept from sending, by what kept them: the sum over all streams, up to half a second old. Time in
/// which a stream had nothing to send does not count. See <see cref="SendLimit"/>.
/// </summary>
public sealed record SendLimitTimes
{
    /// <summary>The time for which streams waited for their turn.</summary>
    public TimeSpan Turn { get; init; }

    /// <summary>The time for which streams waited for the slowest receiver to read.</summary>
    public TimeSpan Window { get; init; }

    /// <summary>The time for which streams followed the rate of the slowest receiver.</summary>
    public TimeSpan Rate { get; init; }

    /// <summary>The time for which streams waited for readers, or for packets that are missing.</summary>
    public TimeSpan Reader { get; init; }

    /// <summary>The time for which streams waited for memory.</summary>
    public TimeSpan Memory { get; init; }

    /// <summary>The time for which streams waited for a view.</summary>
    public TimeSpan View { get; init; }

    /// <summary>The time for which streams waited for the system.</summary>
    public TimeSpan Socket { get; init; }

    /// <summary>The time of one limit; zero for <see cref="SendLimit.None"/>.</summary>
    /// <param name="limit">The limit.</param>
    public TimeSpan Of(SendLimit limit) => limit switch
    {
        SendLimit.Turn => Turn,
        SendLimit.Window => Window,
        SendLimit.Rate => Rate,
        SendLimit.Reader => Reader,
        SendLimit.Memory => Memory,
        SendLimit.View => View,
        SendLimit.Socket => Socket,
        _ => TimeSpan.Zero,
    };
}
