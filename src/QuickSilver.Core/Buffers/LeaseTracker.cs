using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace QuickSilver.Core.Buffers;

// Remembers where each block in use was rented, and where each was returned, for debug runs and tests: which code never returned
// one, or returned it twice, is named. A stack trace per rental is slow; no production run has a tracker.
internal sealed class LeaseTracker
{
    private const int PlacesShown = 3;

    private readonly Dictionary<Lease, StackTrace> _rented = [];
    // Weak: remembers a return for as long as code still holds the lease, and no longer.
    private readonly ConditionalWeakTable<Lease, StackTrace> _returned = [];

    public int Outstanding => _rented.Count;

    internal void OnRent(Lease lease) => _rented[lease] = new StackTrace(fNeedFileInfo: true);

    internal void OnReturn(Lease lease)
    {
        _rented.Remove(lease);
        _returned.AddOrUpdate(lease, new StackTrace(fNeedFileInfo: true));
    }

    internal string DescribeReturn(Lease lease) =>
        _returned.TryGetValue(lease, out var trace) ? $" Returned at:\n{Place(trace)}" : "";

    /// <summary>Throws with the place of each rental when blocks are still out.</summary>
    public void AssertAllReturned()
    {
        if (_rented.Count > 0)
        {
            var places = string.Join("\n---\n", _rented.Values.Take(PlacesShown).Select(Place));
            throw new InvalidOperationException($"{_rented.Count} blocks were never returned. Rented at:\n{places}");
        }
    }

    // The frames above the pool's own; how many those are depends on what was inlined.
    private static string Place(StackTrace trace)
    {
        string pool = $"{typeof(Lease).Namespace}.";
        var frames = trace.GetFrames().SkipWhile(frame =>
            DiagnosticMethodInfo.Create(frame)?.DeclaringTypeName.StartsWith(pool, StringComparison.Ordinal) == true);
        return string.Concat(frames.Select(frame => frame.ToString()));
    }
}
