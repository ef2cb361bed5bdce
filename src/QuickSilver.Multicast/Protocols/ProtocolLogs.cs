using QuickSilver.Core.Environment;
using QuickSilver.Core.Storage;

namespace QuickSilver.Multicast.Protocols;

// The logs of one protocol of a node, in the node's storage directory. Their names begin with the guarantee of the protocol, so that those
// of two protocols never meet. Core thread only.
internal sealed class ProtocolLogs(INodeEnvironment environment, string protocol)
{
    /// <summary>The logs of this protocol have names that begin with it. Those of other protocols do not.</summary>
    public string Prefix { get; } = PrefixOf(protocol);

    /// <summary>
    /// Begins to open a log, which is created if there is none (<see cref="INodeEnvironment.OpenLog"/>). A name has 99 characters less
    /// those of the guarantee at most.
    /// </summary>
    /// <exception cref="ArgumentException">An option is wrong.</exception>
    /// <exception cref="LogException">The node has no storage directory.</exception>
    public INodeLog Open(LogOptions options, ILogObserver observer) =>
        environment.OpenLog(options with { Name = Prefix + options.Name }, observer);

    /// <summary>Lists the logs of this protocol, by the names with which it opens them (<see cref="INodeEnvironment.ListLogs"/>).</summary>
    /// <exception cref="LogException">The node has no storage directory.</exception>
    public void List(Action<LogListing> completed) => environment.ListLogs(listing => completed(listing with
    {
        Logs =
        [
            .. listing.Logs.Where(log => log.Name.StartsWith(Prefix, StringComparison.Ordinal))
                .Select(log => log with { Name = log.Name[Prefix.Length..] }),
        ],
    }));

    /// <summary>Deletes a log that is not open (<see cref="INodeEnvironment.DeleteLog"/>).</summary>
    /// <exception cref="ArgumentException">The name is none.</exception>
    /// <exception cref="LogException">The node has no storage directory.</exception>
    public void Delete(string name, Action<LogException?> completed) => environment.DeleteLog(Prefix + name, completed);

    // No dot before the last, so that no prefix begins with another.
    private static string PrefixOf(string protocol) =>
        string.Create(protocol.Length + 1, protocol, static (name, from) =>
        {
            for (int i = 0; i < from.Length; i++)
            {
                char c = char.ToLowerInvariant(from[i]);
                name[i] = char.IsAsciiLetterLower(c) || char.IsAsciiDigit(c) ? c : '-';
            }

            name[^1] = '.';
        });
}
