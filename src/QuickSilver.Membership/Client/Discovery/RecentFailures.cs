using System.Net;
using QuickSilver.Core.Environment;

namespace QuickSilver.Membership.Client.Discovery;

// Which addresses came to nothing a moment ago, so that they are not tried again and again. Bounded: the oldest is forgotten first.
internal sealed class RecentFailures(INodeEnvironment environment)
{
    public static readonly TimeSpan Memory = TimeSpan.FromSeconds(10);
    private const int Most = 64;

    // Null until there is one.
    private Dictionary<IPEndPoint, TimeSpan>? _failed;

    public void Add(IPEndPoint endPoint)
    {
        _failed ??= [];
        if (_failed.Count >= Most && !_failed.ContainsKey(endPoint))
        {
            _failed.Remove(_failed.MinBy(static one => one.Value).Key);
        }

        _failed[endPoint] = environment.Now;
    }

    public bool Has(IPEndPoint endPoint) =>
        _failed is not null && _failed.TryGetValue(endPoint, out var at) && environment.Now - at < Memory;
}
