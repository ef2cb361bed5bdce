using QuickSilver.Membership.Service.Quotas;


namespace QuickSilver.Membership.Service.Configurations;

// The configurations sent to a member, framed, until it says that it has them: what it missed while its connection was
// broken is replayed step by step, because a view that a member never hears of is a view that it can never acknowledge.
// Bounded: when the oldest had to go, a member that lacks it gets a snapshot.
internal sealed class ConfigurationBacklog(KeptBytes kept)
{
    /// <summary>What a snapshot builds on: anything.</summary>
    public const long Anything = -1;

    // Null while the member has everything, as it nearly always has.
    private Queue<(long Number, long Previous, ConfigurationFrames Frames)>? _steps;
    private long _bytes;

    /// <summary>Its part of what the service keeps.</summary>
    public long Share => _steps?.Sum(static step => step.Frames.Share) ?? 0;

    public void Add(long number, long previous, in ConfigurationFrames frames)
    {
        _steps ??= new();
        _steps.Enqueue((number, previous, frames));
        _bytes += frames.Length;
        frames.KeepIn(kept);
        while (_bytes > kept.MaxBacklogBytes)
        {
            Drop();
        }
    }

    /// <summary>The member has everything up to this one.</summary>
    public void Trim(long known)
    {
        while (_steps is not null && _steps.Peek().Number <= known)
        {
            Drop();
        }
    }

    public void Clear()
    {
        // They may be in use by a replay.
        foreach (var (_, _, frames) in _steps ?? [])
        {
            frames.DropFrom(kept);
        }

        _steps = null;
        _bytes = 0;
    }

    /// <summary>The steps that follow <paramref name="known"/>, or null when there are none that begin there.</summary>
    public IReadOnlyCollection<(long Number, long Previous, ConfigurationFrames Frames)>? After(long known)
    {
        Trim(known);
        return _steps?.Peek() is { } first && (first.Previous == known || first.Previous == Anything) ? _steps : null;
    }

    private void Drop()
    {
        var frames = _steps!.Dequeue().Frames;
        _bytes -= frames.Length;
        frames.DropFrom(kept);
        _steps = _steps.Count > 0 ? _steps : null;
    }
}
