using System.Collections.Immutable;
using System.Net;
using System.Net.Sockets;
using QuickSilver.Core.Background;

namespace QuickSilver.Composition;

// The addresses of a host, of one family if it is specified.
internal delegate Task<IPAddress[]> HostLookup(string host, AddressFamily family, CancellationToken cancellationToken);

// The servers of a membership service as an option names them: each by host and port. Resolved at a node's start, and again
// while none of the addresses takes the node in.
internal sealed class ServerNames
{
    private readonly string[] _servers;
    // Of each server that was ever resolved, the last addresses. They are used where its name cannot be resolved now.
    private readonly Dictionary<string, IPEndPoint[]> _known = [];
    private readonly HostLookup _lookup;
    private AddressFamily? _family;

    /// <param name="servers">The option, already validated.</param>
    /// <param name="family">Which addresses; null: those of IPv4, or of IPv6 if the first host has only such.</param>
    /// <param name="lookup">How the addresses of a host are found; null: as the system does.</param>
    public ServerNames(IEnumerable<string> servers, AddressFamily? family, HostLookup? lookup = null)
    {
        _servers = [.. servers];
        _family = family;
        _lookup = lookup ?? AskSystem;
    }

    /// <summary>Whether a host is named by other than its address.</summary>
    public bool HasNames => Array.Exists(_servers, static one => ServerAddress.Read(one)!.Value.Address is null);

    /// <summary>
    /// All addresses of each host, of one kind. A name that cannot be resolved gives the addresses that it had before. If no server has
    /// an address, it throws. One call at a time.
    /// </summary>
    /// <exception cref="MembershipUnreachableException">No server has an address.</exception>
    public async Task<ImmutableArray<IPEndPoint>> ResolveAsync(CancellationToken cancellationToken)
    {
        var found = new List<IPEndPoint>();
        MembershipUnreachableException? unresolved = null;
        foreach (string server in _servers)
        {
            try
            {
                var addresses = await ResolveAsync(server, cancellationToken).ConfigureAwait(false);
                _family ??= addresses[0].AddressFamily;
                _known[server] = addresses;
            }
            catch (MembershipUnreachableException exception)
            {
                unresolved = exception;
            }

            found.AddRange(_known.GetValueOrDefault(server, []));
        }

        return found.Count > 0 ? [.. found.Distinct()] : throw unresolved!;
    }

    // On a thread of its own, as the thread pool may be full of handlers that block. A lookup that is given up continues until the system
    // ends it, and its result is then ignored.
    private static Task<IPAddress[]> AskSystem(string host, AddressFamily family, CancellationToken cancellationToken) =>
        Detached.RunOnThread("QuickSilver names", () => Dns.GetHostAddresses(host, family)).WaitAsync(cancellationToken);

    private async Task<IPEndPoint[]> ResolveAsync(string hostAndPort, CancellationToken cancellationToken)
    {
        var server = ServerAddress.Read(hostAndPort)!.Value;
        (string host, int port) = server;
        if (server.Address is { } address)
        {
            return [new IPEndPoint(address, port)];
        }

        IPAddress[] addresses;
        try
        {
            addresses = await _lookup(host, _family ?? AddressFamily.Unspecified, cancellationToken).ConfigureAwait(false);
        }
        catch (Exception exception) when (exception is SocketException or ArgumentException)
        {
            throw Unresolved(host, hostAndPort, exception.Message.TrimEnd('.'), exception);
        }

        if (_family is null && Array.Exists(addresses, static one => one.AddressFamily == AddressFamily.InterNetwork))
        {
            addresses = Array.FindAll(addresses, static one => one.AddressFamily == AddressFamily.InterNetwork);
        }

        return addresses.Length > 0
            ? [.. addresses.Select(one => new IPEndPoint(one, port))]
            : throw Unresolved(host, hostAndPort, "it has none", null);
    }

    private MembershipUnreachableException Unresolved(string host, string hostAndPort, string why, Exception? cause) => new(
        $"Cannot resolve the membership service {hostAndPort}: no {Kind(_family)} was found for the host name {host} ({why}). "
        + $"Correct {MembershipOptions.ServersKey}, or give the address of the host in place of its name.",
        cause)
    {
        HostName = host,
    };

    private static string Kind(AddressFamily? family) => family switch
    {
        AddressFamily.InterNetwork => "IPv4 address",
        AddressFamily.InterNetworkV6 => "IPv6 address",
        _ => "address",
    };
}
