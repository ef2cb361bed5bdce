using System.Runtime.Serialization;

namespace TradingFloor;

/// <summary>An order to buy or to sell shares, or the bell that closes the floor.</summary>
/// <param name="Symbol">The symbol of the stock. Empty: the bell.</param>
/// <param name="IsBuy">Whether the order buys.</param>
/// <param name="Cents">The price of a share at most, or at least, in cents.</param>
/// <param name="Shares">How many shares.</param>
[DataContract]
public sealed record Order(
    [property: DataMember(Order = 1)] string Symbol,
    [property: DataMember(Order = 2)] bool IsBuy,
    [property: DataMember(Order = 3)] long Cents,
    [property: DataMember(Order = 4)] int Shares)
{
    public static Order Bell { get; } = new("", IsBuy: false, Cents: 0, Shares: 0);

    public bool IsBell => Symbol.Length == 0;
}
