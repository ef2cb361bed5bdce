using System.Runtime.Serialization;

namespace OrderBook.Tests;

/// <summary>What happens to an order: it is placed, or the process that watches limits cancels it.</summary>
[DataContract]
public sealed record OrderEvent(
    [property: DataMember(Order = 1)] int Id,
    [property: DataMember(Order = 2)] int Price,
    [property: DataMember(Order = 3)] bool IsCancellation);
