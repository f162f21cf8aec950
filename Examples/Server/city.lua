-- The twenty youngest people of a city.
request = function()
    return wrk.format("GET", "/cities/city" .. math.random(0, 499))
end
