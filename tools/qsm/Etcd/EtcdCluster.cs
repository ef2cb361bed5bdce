using System.Globalization;
using System.Text;

namespace QuickSilver.Tool.Etcd;

/// <summary>The server that leads: the value of the leader's key, and by which lease and since which revision it is there.</summary>
internal sealed record EtcdLeader(string Address, long Lease, long CreateRevision);

// What the servers of one cluster keep in etcd: the leader, under a lease, and the number of the last configuration.
internal sealed class EtcdCluster(EtcdClient client, string cluster)
{
    private readonly byte[] _leader = Encoding.UTF8.GetBytes($"/quicksilver/{cluster}/leader");
    private readonly byte[] _configuration = Encoding.UTF8.GetBytes($"/quicksilver/{cluster}/configuration");

    /// <summary>Null: no server leads.</summary>
    public async Task<EtcdLeader?> ReadLeaderAsync(CancellationToken cancellationToken)
    {
        var range = await client.CallAsync(
            "v3/kv/range",
            new EtcdRangeRequest { Key = _leader },
            EtcdJson.Default.EtcdRangeRequest,
            EtcdJson.Default.EtcdRange,
            cancellationToken);
        return range.Kvs is [{ } one, ..] ? new EtcdLeader(Encoding.UTF8.GetString(one.Value), one.Lease, one.CreateRevision) : null;
    }

    /// <summary>
    /// Leads if no server does. Returns the leader's revision and the last number that was claimed, or null if another one leads.
    /// </summary>
    public async Task<(long Revision, long Last)?> TryLeadAsync(string address, long lease, CancellationToken cancellationToken)
    {
        var answer = await CommitAsync(
            new EtcdTransaction
            {
                Compare = [new EtcdCompare { Key = _leader, CreateRevision = 0 }],
                Success =
                [
                    new EtcdOperation
                    {
                        RequestPut = new EtcdPutRequest { Key = _leader, Value = Encoding.UTF8.GetBytes(address), Lease = lease },
                    },
                    new EtcdOperation { RequestRange = new EtcdRangeRequest { Key = _configuration } },
                ],
            },
            cancellationToken);
        return answer.Succeeded ? (answer.Header.Revision, ReadNumber(answer.Responses.LastOrDefault())) : null;
    }

    /// <summary>
    /// Puts a number if the leader's key is still the one of this revision and the number before is the last. A request that seems lost may
    /// arrive when later numbers are put, and puts nothing then. Returns the last number; null: another server leads, or none.
    /// </summary>
    /// <param name="createRevision">Of the leader's key.</param>
    /// <param name="previous">The number before; 0: none.</param>
    /// <param name="configuration">The number.</param>
    /// <param name="cancellationToken">Ends the attempt.</param>
    public async Task<long?> TryPutConfigurationAsync(
        long createRevision, long previous, long configuration, CancellationToken cancellationToken)
    {
        var answer = await CommitAsync(
            new EtcdTransaction
            {
                Compare =
                [
                    new EtcdCompare { Key = _leader, CreateRevision = createRevision },
                    previous == 0
                        ? new EtcdCompare { Key = _configuration, CreateRevision = 0 }
                        : new EtcdCompare { Key = _configuration, Target = "VALUE", Value = Text(previous) },
                ],
                Success =
                [
                    new EtcdOperation { RequestPut = new EtcdPutRequest { Key = _configuration, Value = Text(configuration) } },
                ],
                Failure =
                [
                    new EtcdOperation { RequestRange = new EtcdRangeRequest { Key = _leader } },
                    new EtcdOperation { RequestRange = new EtcdRangeRequest { Key = _configuration } },
                ],
            },
            cancellationToken);
        if (answer.Succeeded)
        {
            return configuration;
        }

        // An earlier attempt may have put it.
        return answer.Responses is [{ ResponseRange.Kvs: [{ } leader, ..] }, var last] && leader.CreateRevision == createRevision
            ? ReadNumber(last)
            : null;
    }

    /// <summary>A new lease, and the time for which it was granted, which may be longer.</summary>
    public async Task<(long Lease, TimeSpan Granted)> GrantLeaseAsync(TimeSpan timeToLive, CancellationToken cancellationToken)
    {
        var answer = await client.CallAsync(
            "v3/lease/grant",
            new EtcdLeaseRequest { TimeToLive = (long)timeToLive.TotalSeconds },
            EtcdJson.Default.EtcdLeaseRequest,
            EtcdJson.Default.EtcdLeaseResponse,
            cancellationToken);
        return (answer.Id, answer.Rest);
    }

    /// <summary>The time that the lease lives on; zero: it has ended.</summary>
    public async Task<TimeSpan> KeepAliveAsync(long lease, CancellationToken cancellationToken)
    {
        var answer = await client.CallAsync(
            "v3/lease/keepalive",
            new EtcdLeaseRequest { Id = lease },
            EtcdJson.Default.EtcdLeaseRequest,
            EtcdJson.Default.EtcdKeepAliveResponse,
            cancellationToken);
        return answer.Result?.Rest ?? TimeSpan.Zero;
    }

    /// <summary>Ends the lease, and with it the key under it. One that has ended already is none.</summary>
    public Task RevokeAsync(long lease, CancellationToken cancellationToken) => client.CallAsync(
        "v3/lease/revoke",
        new EtcdLeaseRequest { Id = lease },
        EtcdJson.Default.EtcdLeaseRequest,
        EtcdJson.Default.EtcdLeaseResponse,
        cancellationToken);

    public Task WaitForChangeAsync(EtcdLeader leader, TimeSpan most, CancellationToken cancellationToken) =>
        client.WaitForDeletionAsync(_leader, leader.CreateRevision + 1, most, cancellationToken);

    private Task<EtcdTransactionResponse> CommitAsync(EtcdTransaction transaction, CancellationToken cancellationToken) => client.CallAsync(
        "v3/kv/txn", transaction, EtcdJson.Default.EtcdTransaction, EtcdJson.Default.EtcdTransactionResponse, cancellationToken);

    private static byte[] Text(long number) => Encoding.UTF8.GetBytes(number.ToString(CultureInfo.InvariantCulture));

    // A server that cannot read the last number must not give the next.
    private long ReadNumber(EtcdOutcome? outcome) => outcome?.ResponseRange?.Kvs is not [{ } one, ..] ? 0
        : long.TryParse(Encoding.UTF8.GetString(one.Value), NumberStyles.None, CultureInfo.InvariantCulture, out long number) ? number
        : throw new EtcdUnavailableException(
            $"The value of {Encoding.UTF8.GetString(_configuration)} is no number. Delete the key to take the number from the nodes.");
}
