using System.Globalization;
using System.Net.Http.Json;
using System.Text.Json;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tool.Etcd;

namespace QuickSilver.Tool.Tests.Etcd;

// Over a real etcd, whose quota is soon used up.
public sealed class EtcdRefusalTests
{
    private const int QuotaBytes = 1 << 21;
    // More claims than a leader repeats at once, so that it waits longer between the last ones.
    private const int Refusals = 12;

    [Theory]
    [InlineData("etcdserver: mvcc: database space exceeded", "etcdctl alarm disarm")]
    [InlineData("etcdserver: corrupt cluster", "etcdctl alarm list")]
    [InlineData("etcdserver: permission denied", "right to read and write keys")]
    [InlineData("etcdserver: user name is empty", "right to read and write keys")]
    [InlineData("etcdserver: too many requests", "Look at its disks")]
    [InlineData("etcdserver: request is too large", "--max-request-bytes")]
    [InlineData("etcdserver: no leader", "restore the network between them")]
    [InlineData("etcdserver: request timed out", "the network between them")]
    [InlineData("etcdserver: something new", null)]
    public void A_refusal_of_etcd_comes_with_a_remedy(string words, string? whatToDo)
    {
        string? said = EtcdRefusal.WhatToDo($"http://10.0.0.1:2379/: status 503 ({words})");
        Assert.Equal(whatToDo is null, said is null);
        Assert.Contains(whatToDo ?? "", said ?? "", StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_leader_whose_etcd_is_full_says_so_once_with_what_to_do_and_leads_on_when_there_is_space()
    {
        EtcdServer.SkipIfMissing();
        using var etcd = new EtcdServer(settings: Settings);
        using var http = new HttpClient { BaseAddress = etcd.Address };
        var log = new LogRecorder();
        using var client = new EtcdClient(new EtcdAccess([etcd.Address]), log);
        using var end = new CancellationTokenSource();
        var cluster = new EtcdCluster(client, "full");
        var term = (await EtcdTerm.TryAcquireAsync(
            cluster, "first", static _ => { }, static action => action(), log, CancellationToken.None))!;
        var keeping = term.KeepAsync(end.Token);
        while (await IsPutAsync(http))
        {
        }

        var claimed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        term.Claim(1, claimed.SetResult);
        await Patience.Until(() => term.Obstacle?.Contains("'etcdctl alarm disarm'", StringComparison.Ordinal) == true);
        Assert.Contains("etcd refused a request", term.Obstacle);
        Assert.Contains("database space exceeded", term.Obstacle);
        using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(30));
        while (await RefusedTransactionsAsync(http) < Refusals)
        {
            await Task.Delay(TimeSpan.FromMilliseconds(50), limit.Token);
        }

        Assert.True(term.IsHeld);
        Assert.False(claimed.Task.IsCompleted);
        Assert.Single(log.Entries, static entry => entry.Id == 1332);

        var deleted = await PostAsync(http, "v3/kv/deleterange", new { key = Key });
        string revision = deleted.GetProperty("header").GetProperty("revision").GetString()!;
        await PostAsync(http, "v3/kv/compaction", new { revision, physical = true });
        await PostAsync(http, "v3/maintenance/defragment", new { });
        var alarms = await PostAsync(http, "v3/maintenance/alarm", new { action = "GET" });
        string memberID = Assert.Single(alarms.GetProperty("alarms").EnumerateArray()).GetProperty("memberID").GetString()!;
        await PostAsync(http, "v3/maintenance/alarm", new { action = "DEACTIVATE", alarm = "NOSPACE", memberID });
        await claimed.Task.WaitAsync(TimeSpan.FromSeconds(30));
        Assert.Null(term.Obstacle);
        await end.CancelAsync();
        Assert.Null(await keeping);
        await term.ReleaseAsync();
    }

    private static string Key => Convert.ToBase64String("large"u8);

    // As etcd counts them itself.
    private static async Task<int> RefusedTransactionsAsync(HttpClient http)
    {
        string metrics = await http.GetStringAsync("metrics");
        return metrics.Split('\n')
            .Where(static line => line.StartsWith("grpc_server_handled_total{", StringComparison.Ordinal)
                && line.Contains("grpc_code=\"ResourceExhausted\",grpc_method=\"Txn\"", StringComparison.Ordinal))
            .Sum(static line => int.Parse(line[(line.LastIndexOf(' ') + 1)..], CultureInfo.InvariantCulture));
    }

    private static async Task<bool> IsPutAsync(HttpClient http)
    {
        using var answer = await http.PostAsJsonAsync("v3/kv/put", new { key = Key, value = Convert.ToBase64String(new byte[400_000]) });
        return answer.IsSuccessStatusCode;
    }

    private static async Task<JsonElement> PostAsync(HttpClient http, string path, object body)
    {
        using var answer = await http.PostAsJsonAsync(path, body);
        return await answer.EnsureSuccessStatusCode().Content.ReadFromJsonAsync<JsonElement>();
    }

    private static Dictionary<string, string> Settings(int port, int peerPort, string folder) => new()
    {
        ["ETCD_NAME"] = "one",
        ["ETCD_DATA_DIR"] = folder,
        ["ETCD_LISTEN_CLIENT_URLS"] = $"http://127.0.0.1:{port}",
        ["ETCD_ADVERTISE_CLIENT_URLS"] = $"http://127.0.0.1:{port}",
        ["ETCD_LISTEN_PEER_URLS"] = $"http://127.0.0.1:{peerPort}",
        ["ETCD_INITIAL_ADVERTISE_PEER_URLS"] = $"http://127.0.0.1:{peerPort}",
        ["ETCD_INITIAL_CLUSTER"] = $"one=http://127.0.0.1:{peerPort}",
        ["ETCD_QUOTA_BACKEND_BYTES"] = $"{QuotaBytes}",
    };
}
