using System.Collections.Immutable;

namespace QuickSilver.Diagnostics;

// Levels that come and go with their owners, and are read as their sum. From any thread.
internal sealed class CountSources
{
    // Replaced as a whole.
    private ImmutableArray<Func<long>> _sources = [];

    public long Sum
    {
        get
        {
            long sum = 0;
            foreach (var source in _sources)
            {
                sum += source();
            }

            return sum;
        }
    }

    public void Add(Func<long> source) => ImmutableInterlocked.Update(ref _sources, static (all, one) => all.Add(one), source);

    public void Remove(Func<long> source) => ImmutableInterlocked.Update(ref _sources, static (all, one) => all.Remove(one), source);
}
