using System.Diagnostics;

namespace QuickSilver.Core.Buffers;

// Remembers where each block in use was rented, for debug runs and tests: who never returned it is named at the end.
internal sealed class LeaseTracker
{
    private readonly Dictionary<Lease, StackTrace> _rented = [];

    public int Outstanding => _rented.Count;

    internal void OnRent(Lease lease) => _rented[lease] = new StackTrace(2, fNeedFileInfo: true);

    internal void OnReturn(Lease lease) => _rented.Remove(lease);

    /// <summary>Throws with the place of each rental when blocks are still out.</summary>
    public void AssertAllReturned()
    {
        if (_rented.Count > 0)
        {
            var places = string.Join("\n---\n", _rented.Values.Take(3).Select(trace => trace.ToString()));
            throw new InvalidOperationException($"{_rented.Count} blocks were never returned. Rented at:\n{places}");
        }
    }
}
