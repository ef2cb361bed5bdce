using System.Text.Json;
using QuickSilver.Tool.Etcd;

namespace QuickSilver.Tool.Tests.Etcd;

// What comes from a member of etcd, or from whatever answers in its place.
public sealed class EtcdMessagesTests
{
    [Theory]
    [InlineData("""{"header":null}""")]
    [InlineData("""{"responses":null}""")]
    [InlineData("""{"responses":[{"response_range":{"kvs":null}}]}""")]
    [InlineData("""{"responses":[{"response_range":{"kvs":[{"value":"no_Base64"}]}}]}""")]
    [InlineData("""{"header":{"revision":"9223372036854775808"}}""")]
    [InlineData("""{"header":{"revision":1e400}}""")]
    [InlineData("[]")]
    [InlineData("")]
    public void An_invalid_answer_is_an_error_of_its_sender(string answer) =>
        Assert.Throws<JsonException>(() => JsonSerializer.Deserialize(answer, EtcdJson.Default.EtcdTransactionResponse));

    [Fact]
    public void Nulls_in_lists_are_nothing()
    {
        var answer = JsonSerializer.Deserialize(
            """{"responses":[null,{"response_range":{"kvs":[null]}}]}""", EtcdJson.Default.EtcdTransactionResponse)!;
        Assert.Equal([null, null], answer.Responses.Select(static one => one?.ResponseRange?.Kvs[0]));
        Assert.Equal(0, answer.Header.Revision);

        var empty = JsonSerializer.Deserialize("""{ "kvs": [{ "value": null }, {}] }""", EtcdJson.Default.EtcdRange)!;
        Assert.Equal([0, 0], empty.Kvs.Select(static one => one!.Value.Length));
    }

    [Theory]
    [InlineData(long.MaxValue, 24 * 60 * 60)]
    [InlineData(long.MinValue, 0)]
    [InlineData(5, 5)]
    public void The_rest_of_a_lease_is_some_time_whatever_the_answer_says(long told, int seconds)
    {
        string answer = $$"""{ "result": { "TTL": "{{told}}" } }""";
        Assert.Equal(
            TimeSpan.FromSeconds(seconds), JsonSerializer.Deserialize(answer, EtcdJson.Default.EtcdKeepAliveResponse)!.Result!.Rest);
    }

    [Theory]
    [InlineData("""{"error":"etcdserver: no leader","code":14}""")]
    [InlineData("""{"error":{"grpc_code":14,"http_code":503,"message":"etcdserver: no leader","http_status":"Service Unavailable"}}""")]
    public void An_error_is_read_from_a_plain_answer_and_from_that_of_a_stream(string answer)
    {
        Assert.Equal("etcdserver: no leader", JsonSerializer.Deserialize(answer, EtcdJson.Default.EtcdError)!.Error);
        Assert.Equal("etcdserver: no leader", JsonSerializer.Deserialize(answer, EtcdJson.Default.EtcdKeepAliveResponse)!.Error);
    }

    [Theory]
    [InlineData("""{"error":7}""")]
    [InlineData("""{"error":[]}""")]
    [InlineData("""{"error":{}}""")]
    [InlineData("""{"error":{"message":7}}""")]
    public void An_error_without_words_is_no_answer(string answer) =>
        Assert.Throws<JsonException>(() => JsonSerializer.Deserialize(answer, EtcdJson.Default.EtcdError));
}
