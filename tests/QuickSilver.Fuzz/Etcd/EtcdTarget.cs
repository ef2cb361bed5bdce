using System.Text;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using QuickSilver.Tool.Etcd;

namespace QuickSilver.Fuzz.Etcd;

// The answers of etcd, or of a process in its place, to a server of the membership service. The first byte of the input chooses the
// answer; the rest is text.
internal sealed class EtcdTarget : FuzzTarget
{
    private static readonly (string Name, string Text, Action<byte[]> Read)[] Answers =
    [
        Answer(
            "range",
            """{"header":{"cluster_id":"1","member_id":"2","revision":"7","raft_term":"3"},"kvs":[{"key":"aw==","create_revision":"5","""
            + """ "mod_revision":"6","version":"1","value":"MTAuMC4wLjE6NzQwMA==","lease":"9"}],"count":"1"}""",
            EtcdJson.Default.EtcdRange,
            static range => ExpectValues(range.Kvs)),
        Answer(
            "transaction",
            """{"header":{"member_id":"2","revision":"8"},"succeeded":true,"responses":[{"response_put":{}},"""
            + """{"response_range":{"kvs":[{"value":"MTI="}]}}]}""",
            EtcdJson.Default.EtcdTransactionResponse,
            static answer =>
            {
                FindingException.ThrowUnless(answer.Header is not null, "There is no header.");
                foreach (var outcome in answer.Responses)
                {
                    ExpectValues(outcome?.ResponseRange?.Kvs ?? []);
                }
            }),
        Answer("lease", """{"header":{"revision":"8"},"ID":"9","TTL":"2"}""", EtcdJson.Default.EtcdLeaseResponse, ExpectRest),
        Answer(
            "keep-alive",
            """{"result":{"header":{"revision":"8"},"ID":"9","TTL":"2"}}""",
            EtcdJson.Default.EtcdKeepAliveResponse,
            static answer => ExpectRest(answer.Result)),
        ("watch", """{"result":{"created":true}}""" + "\n" + """{"result":{"events":[{"type":"DELETE"}]}}""", ReadStream),
        Answer(
            "status",
            """{"header":{"member_id":"2"},"leader":"2","errors":["etcdserver: no leader"]}""",
            EtcdJson.Default.EtcdStatus,
            static _ => { }),
        Answer("members", """{"members":[{"ID":"2","isLearner":true},{"ID":"3"}]}""", EtcdJson.Default.EtcdMemberList, static _ => { }),
        Answer("error", """{"error":"etcdserver: requested lease not found","code":5}""", EtcdJson.Default.EtcdError, static _ => { }),
        Answer(
            "stream-error",
            """{"error":{"grpc_code":14,"http_code":503,"message":"etcdserver: no leader","http_status":"Service Unavailable"}}""",
            EtcdJson.Default.EtcdKeepAliveResponse,
            static answer => ExpectRest(answer.Result)),
    ];

    private static readonly TimeSpan MostRest = TimeSpan.FromDays(1);

    public override string Name => "etcd";

    public override IReadOnlyList<Type> Decoders { get; } = [typeof(EtcdJson)];

    public override IEnumerable<Seed> Seeds() =>
        Answers.Select(static (answer, index) => new Seed(answer.Name, [(byte)index, .. Encoding.UTF8.GetBytes(answer.Text)]));

    public override void Run(ReadOnlySpan<byte> input)
    {
        if (input.IsEmpty || input[0] >= Answers.Length)
        {
            return;
        }

        try
        {
            Answers[input[0]].Read(input[1..].ToArray());
        }
        catch (JsonException)
        {
            // The member is taken as one that did not answer.
        }
    }

    private static (string, string, Action<byte[]>) Answer<T>(string name, string text, JsonTypeInfo<T> type, Action<T> expect)
        where T : class => (name, text, bytes =>
        {
            if (JsonSerializer.Deserialize(bytes, type) is { } answer)
            {
                expect(answer);
            }
        }
    );

    private static void ReadStream(byte[] bytes)
    {
        using var stream = new MemoryStream(bytes);
        var news = JsonSerializer.DeserializeAsyncEnumerable(stream, EtcdJson.Default.EtcdWatchResponse, topLevelValues: true)
            .ToBlockingEnumerable();
        foreach (var one in news)
        {
            FindingException.ThrowUnless(one?.Result is not { Events: null }, "There are no events.");
        }
    }

    private static void ExpectValues(IReadOnlyList<EtcdKeyValue?> kvs)
    {
        FindingException.ThrowUnless(kvs is not null, "There are no keys.");
        FindingException.ThrowUnless(kvs!.All(static one => one is not { Value: null }), "A key has no value.");
    }

    private static void ExpectRest(EtcdLeaseResponse? lease) => FindingException.ThrowUnless(
        lease is null || (lease.Rest >= TimeSpan.Zero && lease.Rest <= MostRest), "A lease lives for no time that there is.");
}
