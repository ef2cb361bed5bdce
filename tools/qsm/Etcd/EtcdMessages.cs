using System.Diagnostics.CodeAnalysis;
using System.Text.Json.Serialization;

namespace QuickSilver.Tool.Etcd;

// What goes over etcd's HTTP gateway, as far as it is used here. Keys and values are Base64; 64-bit numbers are strings. A null where none
// may be is an error of the answering member, like any other text that is no answer; only elements of lists are not looked at.
// What etcd leaves out has its default: such properties of answers are settable, as those that are init-only would be null.
internal sealed record EtcdHeader
{
    public long Revision { get; init; }
    public ulong MemberId { get; init; }
}

// Of the member that is asked. Leader: 0 or absent: it knows none.
internal sealed record EtcdStatus
{
    public EtcdHeader? Header { get; init; }
    public ulong Leader { get; init; }
    public IReadOnlyList<string?>? Errors { get; init; }
}

internal sealed record EtcdMemberList
{
    public IReadOnlyList<EtcdMember?>? Members { get; init; }
}

internal sealed record EtcdMember
{
    [JsonPropertyName("isLearner")]
    public bool IsLearner { get; init; }
}

// Of a request that failed.
internal sealed record EtcdError
{
    [JsonConverter(typeof(EtcdErrorText))]
    public string? Error { get; init; }
}

internal sealed record EtcdStreamError
{
    public string? Message { get; init; }
}

// An answer that the gateway takes from a stream. An error in its place comes with the status of a success, if the stream has begun.
internal interface IEtcdStreamed
{
    string? Error { get; }
}

internal sealed record EtcdKeyValue
{
    [AllowNull]
    public byte[] Value { get; set => field = value ?? []; } = [];

    public long CreateRevision { get; init; }
    public long Lease { get; init; }
}

internal sealed record EtcdLeaseRequest
{
    [JsonPropertyName("ID")]
    public long? Id { get; init; }

    [JsonPropertyName("TTL")]
    public long? TimeToLive { get; init; }
}

internal sealed record EtcdLeaseResponse
{
    [JsonPropertyName("ID")]
    public long Id { get; init; }

    // Seconds; 0 or absent: the lease has ended.
    [JsonPropertyName("TTL")]
    public long TimeToLive { get; init; }

    [JsonIgnore]
    public TimeSpan Rest => TimeSpan.FromSeconds(Math.Clamp(TimeToLive, 0, MostSeconds));

    // More than any caller asks for.
    private const long MostSeconds = 24 * 60 * 60;
}

// The gateway answers a stream of keep-alive requests with a stream of results.
internal sealed record EtcdKeepAliveResponse : IEtcdStreamed
{
    public EtcdLeaseResponse? Result { get; init; }

    [JsonConverter(typeof(EtcdErrorText))]
    public string? Error { get; init; }
}

internal sealed record EtcdRangeRequest
{
    public required byte[] Key { get; init; }
}

internal sealed record EtcdPutRequest
{
    public required byte[] Key { get; init; }
    public required byte[] Value { get; init; }
    public long? Lease { get; init; }
}

internal sealed record EtcdCompare
{
    public string Result { get; init; } = "EQUAL";
    public string Target { get; init; } = "CREATE";
    public required byte[] Key { get; init; }
    // One of these, as the target says.
    public long? CreateRevision { get; init; }
    public byte[]? Value { get; init; }
}

internal sealed record EtcdOperation
{
    public EtcdPutRequest? RequestPut { get; init; }
    public EtcdRangeRequest? RequestRange { get; init; }
}

internal sealed record EtcdTransaction
{
    public IReadOnlyList<EtcdCompare> Compare { get; init; } = [];
    public IReadOnlyList<EtcdOperation> Success { get; init; } = [];
    public IReadOnlyList<EtcdOperation> Failure { get; init; } = [];
}

internal sealed record EtcdRange
{
    public IReadOnlyList<EtcdKeyValue?> Kvs { get; set; } = [];
}

internal sealed record EtcdOutcome
{
    public EtcdRange? ResponseRange { get; init; }
}

internal sealed record EtcdTransactionResponse
{
    public EtcdHeader Header { get; set; } = new();
    public bool Succeeded { get; init; }
    public IReadOnlyList<EtcdOutcome?> Responses { get; set; } = [];
}

internal sealed record EtcdWatchRequest
{
    public required EtcdWatchCreate CreateRequest { get; init; }
}

internal sealed record EtcdWatchCreate
{
    public required byte[] Key { get; init; }
    public required long StartRevision { get; init; }
}

internal sealed record EtcdWatchResponse
{
    public EtcdWatchResult? Result { get; init; }
}

internal sealed record EtcdWatchResult
{
    public bool Canceled { get; init; }
    public IReadOnlyList<EtcdEvent?> Events { get; set; } = [];
}

internal sealed record EtcdEvent
{
    public string Type { get; set; } = "PUT";
}

[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower,
    NumberHandling = JsonNumberHandling.AllowReadingFromString | JsonNumberHandling.WriteAsString,
    RespectNullableAnnotations = true,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(EtcdStatus))]
[JsonSerializable(typeof(EtcdMemberList))]
[JsonSerializable(typeof(EtcdError))]
[JsonSerializable(typeof(EtcdStreamError))]
[JsonSerializable(typeof(EtcdLeaseRequest))]
[JsonSerializable(typeof(EtcdLeaseResponse))]
[JsonSerializable(typeof(EtcdKeepAliveResponse))]
[JsonSerializable(typeof(EtcdTransaction))]
[JsonSerializable(typeof(EtcdTransactionResponse))]
[JsonSerializable(typeof(EtcdRangeRequest))]
[JsonSerializable(typeof(EtcdRange))]
[JsonSerializable(typeof(EtcdWatchRequest))]
[JsonSerializable(typeof(EtcdWatchResponse))]
internal sealed partial class EtcdJson : JsonSerializerContext;
